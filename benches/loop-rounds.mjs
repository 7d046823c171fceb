// Loaded into a server by `event-loop.mjs`: how much time of the processor its event loop spends in one round, at most. Unlike the wait for
// an answer, this says the same on a machine that others use too. Linux only; the signal SIGUSR2 prints the figure and begins anew.
import { readFileSync } from "node:fs";

const file = `/proc/self/task/${process.pid}/schedstat`;
const spent = () => Number(readFileSync(file, "latin1").split(" ", 1)[0]) / 1e6;

let longest = 0;
let before = spent();
setInterval(() => {
  const now = spent();
  longest = Math.max(longest, now - before);
  before = now;
}, 1).unref();
process.on("SIGUSR2", () => {
  process.stdout.write(`longest round ${longest.toFixed(1)}\n`);
  longest = 0;
});
