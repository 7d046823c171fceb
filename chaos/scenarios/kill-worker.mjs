import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { labelledText, settings } from "../texts.mjs";

export const summary = "kill -9 of one of two processes while new clients connect";
export const durationMs = { full: 60_000, quick: 10_000 };

/** A client whose process was killed must notice that within this time. */
const NOTICE_MS = 5000;

/** So many workers may die soon after their start, and the others after this time, before the server gives up. */
const EARLY_DEATHS = 4;
const DEATH_INTERVAL_MS = 11_000;

export async function play(scenario) {
  const server = await scenario.serve({ ...settings({ model: false }), app: { log_level: "info", workers: 2 } });
  const outcomes = new Map();
  const count = (outcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  let kills = 0;
  for (const end = Date.now() + scenario.durationMs; Date.now() < end; ) {
    // A stopped process takes no connection: those that it is handed are the ones that a kill may strand.
    const worker = workerOf(server, kills);
    process.kill(worker, "SIGSTOP");
    const clients = Array.from({ length: 8 }, () => ask(server.port).then(count));
    await sleep(200);
    process.kill(worker, "SIGKILL");
    kills++;
    await Promise.all(clients);
    if (scenario.isQuick && kills === EARLY_DEATHS) break;
    await sleep(kills < EARLY_DEATHS ? 1000 : DEATH_INTERVAL_MS);
    await server.waitUntilReady();
  }
  scenario.note(`kills          ${kills}`);
  scenario.note(`clients        ${[...outcomes].map(([outcome, times]) => `${times} × ${outcome}`).join(", ")}`);
  scenario.check("no client hangs", !outcomes.has("hangs"));
  scenario.check("clients of the other process are answered", (outcomes.get("200") ?? 0) > 0);
  scenario.check("the server still runs", server.isRunning);
}

/** Returns the process id of a worker that serves, in turn. */
function workerOf(server, index) {
  const pids = server.children();
  return pids[index % pids.length];
}

/** Sends a request on a new connection. @returns its status, `closed`, or `hangs`. */
function ask(port) {
  return new Promise((resolve) => {
    const body = JSON.stringify({ prompt: labelledText(false).text });
    const socket = connect(port, "127.0.0.1");
    const head = `POST /analyze/prompt HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const timer = setTimeout(() => {
      resolve("hangs");
      socket.destroy();
    }, NOTICE_MS);
    let reply = "";
    socket.on("data", (data) => {
      reply += data;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? "closed");
    });
  });
}
