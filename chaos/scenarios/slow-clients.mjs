import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "clients that send a byte at a time, nothing at all, half of a body, or never read";
export const duration = { full: 90, quick: 8 };

const BODY = JSON.stringify({ prompt: "Could you tell me how long potatoes have to boil?" });
const HEAD = "POST /analyze/prompt HTTP/1.1\r\nHost: guard\r\nContent-Type: application/json\r\n";
/** Requests over connections of each kind. */
const EACH = 60;

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const load = scenario.load(server, { clients: 4 });
  await sleep(1500);
  const alone = load.phase();
  const open = server.descriptors();

  const whole = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const kinds = {
    silent: () => {},
    "half a head": (socket) => socket.write(HEAD),
    "half a body": (socket) => socket.write(whole.slice(0, -10)),
    "a byte a second": (socket) => {
      let sent = 0;
      const timer = setInterval(() => socket.writable && sent < whole.length && socket.write(whole[sent++]), 1000);
      socket.on("close", () => clearInterval(timer));
    },
    "never reads": (socket) => {
      socket.pause();
      for (let count = 0; count < 200; count++) socket.write(whole);
    },
  };
  const sockets = Object.entries(kinds).flatMap(([, begin]) => Array.from({ length: EACH }, () => slow(server, begin)));
  await sleep(scenario.seconds * 1000);
  const beside = load.phase();
  scenario.check(
    "others are answered all the same",
    beside.status(200) > 0 && beside.status(200) === beside.sent,
    JSON.stringify([...beside.statuses, ...beside.errors]),
  );
  scenario.note(
    `others         p99 ${alone.quantile(0.99).toFixed(2)} s alone, ${beside.quantile(0.99).toFixed(2)} s beside them`,
  );
  if (scenario.seconds > 70) {
    const left = sockets.filter(({ socket, isReading }) => !socket.destroyed && isReading());
    scenario.check("what has not arrived within a minute is given up", left.length === 0, `${left.length} still open`);
  }

  const halfClosed = await Promise.all(Array.from({ length: 10 }, () => answerOfHalfClosed(server, whole)));
  scenario.check(
    "a client that ends its side gets its answer",
    halfClosed.every((text) => /HTTP\/1\.1 200/.test(text)),
    `${halfClosed.filter((text) => /HTTP\/1\.1 200/.test(text)).length} of 10`,
  );

  for (const { socket } of sockets) socket.destroy();
  const start = performance.now();
  while (server.descriptors() > open + 8 && performance.now() - start < 10_000) await sleep(50);
  scenario.recovered((performance.now() - start) / 1000);
  scenario.check(
    "connections of clients that are gone are freed",
    server.descriptors() <= open + 8,
    `${open} open before, ${server.descriptors()} after`,
  );
}

function slow(server, begin) {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.on("connect", () => begin(socket));
  socket.on("data", () => {});
  // Whoever reads nothing does not see the end either.
  return { socket, isReading: () => !socket.isPaused() };
}

function answerOfHalfClosed(server, whole) {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.end(whole));
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}
