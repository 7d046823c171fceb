import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "clients of giant requests disconnect";
export const durationMs = { full: 10_000, quick: 5000 };

/** The most expensive text for the secret rules. */
const EXPENSIVE_TEXT = "key=".repeat(250_000);

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const count = scenario.isQuick ? 100 : 520;
  const sockets = [];
  const before = server.rss();
  for (let number = 0; number < count; number++) {
    const body = JSON.stringify({ prompt: "?", output: `${number} ${EXPENSIVE_TEXT}` });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `POST /analyze/output HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.resume();
    sockets.push(socket);
    if (number % 20 === 19) await sleep(20);
  }
  await sleep(1000);
  const running = await server.metric("guard_rule_tasks");
  for (const socket of sockets) socket.destroy();
  const disconnectedAt = performance.now();
  scenario.note(`requests       ${count} of 1 MB; ${running} rule tasks when the clients disconnected`);

  let status;
  const timeoutMs = 10_000;
  const prompt = "Could you tell me how long potatoes have to boil? ".repeat(200);
  while (performance.now() - disconnectedAt < timeoutMs && status !== 200)
    status = (await server.post("/analyze/prompt", { prompt })).status;
  const recoveryMs = performance.now() - disconnectedAt;
  scenario.recovered(recoveryMs);
  scenario.check(
    "other clients are answered again within 5 s",
    status === 200 && recoveryMs < 5000,
    `${recoveryMs.toFixed(0)} ms`,
  );
  let left = Number.NaN;
  while (performance.now() - disconnectedAt < timeoutMs) {
    left = await server.metric("guard_rule_tasks");
    if (left === 0) break;
    await sleep(50);
  }
  scenario.check(
    "the work of disconnected clients is cancelled",
    left === 0,
    `${left} tasks left after ${(performance.now() - disconnectedAt).toFixed(0)} ms`,
  );
  await sleep(scenario.durationMs / 5);
  server.memory.after = server.rss();
  scenario.check(
    "memory stays bounded",
    server.memory.peak < before + 900,
    `${before.toFixed(0)} MB before, ${server.memory.peak.toFixed(0)} at most, ${server.memory.after.toFixed(0)} after`,
  );
  const signalledAt = performance.now();
  server.signal("SIGTERM");
  const { code } = await server.exited;
  const exitMs = performance.now() - signalledAt;
  scenario.check(
    "the process exits within 5 s of SIGTERM",
    code === 0 && exitMs < 5000,
    `code ${code} after ${exitMs.toFixed(0)} ms`,
  );
}
