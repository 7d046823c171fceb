import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "clients that send nothing, half a body or a byte at a time, or never read";
export const durationMs = { full: 90_000, quick: 8000 };

const BODY = JSON.stringify({ prompt: "Could you tell me how long potatoes have to boil?" });
const HEAD = "POST /analyze/prompt HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
/** Connections of each kind. */
const CONNECTIONS = 60;

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const load = scenario.load(server, { clients: 4 });
  await sleep(1500);
  const alone = load.takeTally();
  const open = server.descriptors();

  const message = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const kinds = {
    silent: () => {},
    "half a header": (socket) => socket.write(HEAD),
    "half a body": (socket) => socket.write(message.slice(0, -10)),
    "a byte a second": (socket) => {
      let sent = 0;
      const timer = setInterval(() => socket.writable && sent < message.length && socket.write(message[sent++]), 1000);
      socket.on("close", () => clearInterval(timer));
    },
    "never reads": (socket) => {
      socket.pause();
      for (let count = 0; count < 200; count++) socket.write(message);
    },
  };
  const sockets = Object.entries(kinds).flatMap(([, begin]) =>
    Array.from({ length: CONNECTIONS }, () => connectSlowly(server, begin)),
  );
  await sleep(scenario.durationMs);
  const beside = load.takeTally();
  scenario.check(
    "other clients are answered",
    beside.status(200) > 0 && beside.status(200) === beside.sent,
    JSON.stringify([...beside.statuses, ...beside.errors]),
  );
  scenario.note(
    `other clients  p99 ${alone.quantile(0.99).toFixed(0)} ms alone, ${beside.quantile(0.99).toFixed(0)} ms beside slow ones`,
  );
  if (scenario.durationMs > 70_000) {
    const left = sockets.filter(({ socket, isReading }) => !socket.destroyed && isReading());
    scenario.check("incomplete requests are closed after a minute", left.length === 0, `${left.length} still open`);
  }

  const halfClosed = await Promise.all(Array.from({ length: 10 }, () => replyToHalfClosed(server, message)));
  scenario.check(
    "a half-closed client gets its reply",
    halfClosed.every((text) => /HTTP\/1\.1 200/.test(text)),
    `${halfClosed.map((text) => /HTTP\/1\.1 (?!102)(\d+)/.exec(text)?.[1] ?? text.slice(0, 40)).join(" ")}`,
  );

  for (const { socket } of sockets) socket.destroy();
  const start = performance.now();
  while (server.descriptors() > open + 8 && performance.now() - start < 10_000) await sleep(50);
  scenario.recovered(performance.now() - start);
  scenario.check(
    "connections of disconnected clients are freed",
    server.descriptors() <= open + 8,
    `${open} open before, ${server.descriptors()} after`,
  );
}

function connectSlowly(server, begin) {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.on("connect", () => begin(socket));
  socket.on("data", () => {});
  // A paused socket does not see the end of the connection.
  return { socket, isReading: () => !socket.isPaused() };
}

function replyToHalfClosed(server, message) {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.end(message));
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}
