import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "giant requests whose clients go away";
export const duration = { full: 10, quick: 5 };

/** What makes the rules for secrets work hardest. */
const WORK = "key=".repeat(250_000);

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const count = scenario.quick ? 100 : 520;
  const sockets = [];
  const before = server.rss();
  for (let number = 0; number < count; number++) {
    const body = JSON.stringify({ prompt: "?", output: `${number} ${WORK}` });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `POST /analyze/output HTTP/1.1\r\nHost: guard\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.resume();
    sockets.push(socket);
    if (number % 20 === 19) await sleep(20);
  }
  await sleep(1000);
  const running = await server.metric("guard_rule_tasks");
  for (const socket of sockets) socket.destroy();
  const gone = performance.now();
  scenario.note(`requests       ${count} of 1 MB; ${running} tasks of rules when their clients went away`);

  let status;
  const mayTake = 10_000;
  const prompt = "Could you tell me how long potatoes have to boil? ".repeat(200);
  while (performance.now() - gone < mayTake && status !== 200)
    status = (await server.post("/analyze/prompt", { prompt })).status;
  const took = (performance.now() - gone) / 1000;
  scenario.recovered(took);
  scenario.check("others are answered again within 5 s", status === 200 && took < 5, `${took.toFixed(2)} s`);
  let left = Number.NaN;
  while (performance.now() - gone < mayTake) {
    left = await server.metric("guard_rule_tasks");
    if (left === 0) break;
    await sleep(50);
  }
  scenario.check(
    "their work is dropped",
    left === 0,
    `${left} tasks left after ${((performance.now() - gone) / 1000).toFixed(2)} s`,
  );
  await sleep(scenario.seconds * 200);
  server.memory.after = server.rss();
  scenario.check(
    "memory stays bounded",
    server.memory.peak < before + 900,
    `${before.toFixed(0)} MB before, ${server.memory.peak.toFixed(0)} at most, ${server.memory.after.toFixed(0)} after`,
  );
  const told = performance.now();
  server.signal("SIGTERM");
  const { code } = await server.exited;
  const ended = (performance.now() - told) / 1000;
  scenario.check(
    "the process ends within 5 s when it is told to",
    code === 0 && ended < 5,
    `code ${code} after ${ended.toFixed(2)} s`,
  );
}
