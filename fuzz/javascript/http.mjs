// Bytes sent to a running server: each answer is HTTP with a status of the API, and the server keeps running.
import assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import { BanSubstrings } from "../../dist/scanners/generated/input-scanners.js";
import { createServer } from "../../dist/server/index.js";

const app = await createServer({
  config: { app: { logLevel: "fatal" } },
  scanners: { input: [new BanSubstrings({ substrings: ["acme"] })], output: [] },
});
await app.listen({ port: 0, host: "127.0.0.1" });
const { port } = app.server.address();
export const close = () => app.close();

/** 102 is how the server finds out whether a half-closed client still reads. */
const INTERIM = [100, 102];
const STATUSES = [200, 204, 400, 404, 405, 406, 408, 411, 413, 414, 415, 417, 422, 431, 501, 505];
const request = (body) =>
  `POST /analyze/prompt HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const good = request('{"prompt":"acme"}');
const chunked =
  'POST /scan/prompts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{"prompts":["a"]}\r\n0\r\n\r\n';
const stream = request("")
  .replace("/analyze/prompt", "/scan/output/stream")
  .replace("application/json", "application/x-ndjson");
const seeds = [
  good,
  good + good,
  chunked,
  stream,
  "GET /readyz HTTP/1.0\r\n\r\n",
  "GET /openapi.json?a=%zz HTTP/1.1\r\nHost: a\r\n\r\n",
];
const odd = [
  "\r\n",
  "\n",
  "\0",
  " ",
  "Expect: 100-continue\r\n",
  "Connection: close\r\n",
  "Content-Length: 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Host: b\r\n",
  "Upgrade: h2c\r\nConnection: Upgrade\r\n",
  "OPTIONS * ",
  "CONNECT a:1 ",
  "QUERY ",
  "HTTP/2.0",
  "%00",
  "../",
  "X: \u00ff\r\n",
  "Content-Encoding: gzip\r\n",
  "Accept: text/event-stream\r\n",
];
const changes = fc.array(
  fc.tuple(fc.nat(), fc.nat(20), fc.oneof(fc.constantFrom(...odd), fc.string({ unit: "binary", maxLength: 5 }))),
  { maxLength: 4 },
);

function send(bytes, cut) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      answer += text;
      // The server may wait for more bytes of an incomplete request after the first answers.
      setTimeout(() => socket.end(), 5);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
    socket.write(bytes.subarray(0, cut));
    setTimeout(() => socket.end(bytes.subarray(cut)), 1);
    setTimeout(() => socket.destroy(), 1000);
  });
}

export const property = fc.asyncProperty(fc.constantFrom(...seeds), changes, fc.nat(), async (seed, list, cut) => {
  const bytes = Buffer.from(
    list.reduce((text, [at, length, piece]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + piece + text.slice(start + (length > 12 ? length : 0));
    }, seed),
    "latin1",
  );
  const answer = await send(bytes, cut % (bytes.length + 1));
  for (const [line, status] of answer.matchAll(/^HTTP\/1\.[01] (\d+).*$/gm)) {
    assert(STATUSES.includes(Number(status)) || INTERIM.includes(Number(status)), line);
  }
  assert(answer === "" || answer.startsWith("HTTP/1.1 "), answer.slice(0, 100));
  assert.match(await send(Buffer.from(good), good.length), /^HTTP\/1\.1 200 /);
});
