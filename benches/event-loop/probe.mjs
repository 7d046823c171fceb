// main.mjs preloads this file into the server. It measures the most CPU time that one turn of the event loop takes. Unlike
// latency, CPU time does not depend on other processes. Linux only. SIGUSR2 prints the figure and resets it.
import { readFileSync } from "node:fs";

const file = `/proc/self/task/${process.pid}/schedstat`;
const cpuMs = () => Number(readFileSync(file, "latin1").split(" ", 1)[0]) / 1e6;

let longest = 0;
let before = cpuMs();
setInterval(() => {
  const now = cpuMs();
  longest = Math.max(longest, now - before);
  before = now;
}, 1).unref();
process.on("SIGUSR2", () => {
  process.stdout.write(`longest turn ${longest.toFixed(1)}\n`);
  longest = 0;
});
