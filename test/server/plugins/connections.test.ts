import { execFile, spawnSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { handleClientError, httpServerFactory } from "../../../src/http-server/http-server.ts";
import { passed } from "../../../src/scan/scanner.ts";
import { type RunningServer, startServer } from "../../../src/server/index.ts";
import { bodyTimeout } from "../../../src/server/plugins/body-timeout.ts";
import { acceptedSockets } from "../../support/accepted-sockets.ts";
import { scannerOf, waitingScanner, wordScanner } from "../fixtures.ts";

const TOKEN = "for-tests";
const HEAD = ["Host: x", `Authorization: Bearer ${TOKEN}`, "Content-Type: application/json"];

async function serving(scanner = wordScanner("zebra")) {
  const config = { auth: [{ type: "http_bearer" as const, token: TOKEN }] };
  const server = await startServer({ config, port: 0, scanners: { input: [scanner] }, logger: { write() {} } });
  while ((await fetch(`${server.url}/readyz`)).status !== 200) await new Promise(setImmediate);
  return server;
}

let shared: RunningServer;
beforeAll(async () => {
  shared = await serving();
});
afterAll(() => shared.close());

/** Opens a connection that ends with the test. */
function dial(url: string): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

function request(body: string, { path = "/scan/prompt", head = HEAD, version = "1.1", close = true } = {}): string {
  const lines = [...head, ...(close ? ["Connection: close"] : []), `Content-Length: ${Buffer.byteLength(body)}`];
  return `POST ${path} HTTP/${version}\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

const answerTo = (sent: string, url = shared.url) => {
  const socket = dial(url);
  socket.write(sent);
  return text(socket);
};

/** Sends a body of a given size to each path with `urllib` and `http.client`, which send all of it before they read. */
const PYTHON = `
import http.client, json, sys, urllib.error, urllib.request
port, size, asked = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
body = b"a" * size
for path, headers in asked:
    try:
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers=headers))
    except urllib.error.HTTPError as error:
        print(error.code, json.loads(error.read())["status"])
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, body=body, headers=headers)
    reply = connection.getresponse()
    print(reply.status, json.loads(reply.read())["status"])
`;
const authorization = `Bearer ${TOKEN}`;
const REFUSED: [status: number, path: string, headers: Record<string, string>][] = [
  [413, "/scan/prompt", { authorization, "content-type": "application/json" }],
  [415, "/scan/prompt", { authorization, "content-type": "text/plain" }],
  [401, "/scan/prompt", { "content-type": "application/json" }],
  [404, "/nothing", { authorization, "content-type": "application/json" }],
  [405, "/healthz", { authorization, "content-type": "application/json" }],
];
const has = (program: string) => spawnSync(program, ["--version"]).status === 0;

describe("a request that is rejected before its body is complete", () => {
  it.runIf(has("python3")).each([1_100_000, 20_000_000])(
    "gets a response that Python reads (%d bytes)",
    async (size) => {
      const asked = REFUSED.map(([, path, headers]) => [path, headers]);
      const { port } = new URL(shared.url);
      const args = ["-c", PYTHON, port, String(size), JSON.stringify(asked)];
      const { stdout } = await promisify(execFile)("python3", args);
      expect(stdout.trim().split("\n")).toEqual(REFUSED.flatMap(([status]) => Array(2).fill(`${status} ${status}`)));
    },
  );

  it.each(REFUSED)("gets a response that fetch reads (%d)", async (status, path, headers) => {
    const body = new Uint8Array(20_000_000);
    const reply = await fetch(`${shared.url}${path}`, { method: "POST", headers, body });
    expect([reply.status, ((await reply.json()) as { status: number }).status]).toEqual([status, status]);
  });

  it("sends no body if the client expects 100-continue", async () => {
    const waiting = (head: string[]) => {
      const lines = [...head, "Content-Length: 2000000", "Expect: 100-continue"];
      return answerTo(`POST /scan/prompt HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    };
    const unauthorized = await waiting(HEAD.filter((line) => !line.startsWith("Authorization")));
    expect(unauthorized).toMatch(/^HTTP\/1.1 401 .*connection: close/is);
    expect(await waiting(HEAD)).toMatch(/^HTTP\/1.1 413 .*connection: close/is);
  });

  it("sends its body after 100 Continue if it is not rejected", async () => {
    const reply = await answerTo(request('{"prompt":"x"}', { head: [...HEAD, "Expect: 100-Continue"] }));
    expect(reply).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
  });

  it("is cut off if its body never ends", async () => {
    const socket = dial(shared.url);
    const piece = Buffer.from(`100000\r\n${"a".repeat(1 << 20)}\r\n`);
    socket.write(`POST /scan/prompt HTTP/1.1\r\n${HEAD.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    let answer = "";
    socket.on("data", (data) => {
      answer += data;
    });
    while (!socket.destroyed) await new Promise((resolve) => socket.write(piece, resolve));
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(socket.bytesWritten).toBeGreaterThan(20_000_000);
    expect(socket.bytesWritten).toBeLessThan(200_000_000);
  });
});

describe("pipelined requests", () => {
  it("run one at a time, and are answered in order", async () => {
    let running = 0;
    let most = 0;
    const slow = scannerOf("Slow", async (prompt) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return { ...passed(prompt), findings: [] };
    });
    const { url, close } = await serving(slow);
    onTestFinished(close);
    const prompts = Array.from({ length: 200 }, (_, index) => `prompt ${index}`);
    const sent = prompts.map((prompt, index) =>
      request(JSON.stringify({ prompt }), { path: "/analyze/prompt", close: index === prompts.length - 1 }),
    );
    const replies = await answerTo(sent.join(""), url);
    expect([...replies.matchAll(/"sanitized_prompt":"([^"]+)"/g)].map(([, prompt]) => prompt)).toEqual(prompts);
    expect(most).toBe(1);
  });

  it("are answered before the malformed request that follows them", async () => {
    const replies = await answerTo(`${request('{"prompt":"x"}', { close: false })}nonsense\r\n\r\n`);
    expect([...replies.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "400"]);
  });
});

describe("a client that closes its side", () => {
  it.each(["1.0", "1.1"])("after its request gets the response (HTTP/%s)", async (version) => {
    const { scanner, started, release } = waitingScanner();
    const { url, close } = await serving(scanner);
    onTestFinished(close);
    const accepted = acceptedSockets();
    const socket = dial(url);
    const reply = text(socket);
    socket.end(request('{"prompt":"x"}', { version, close: false }));
    await started;
    // The end arrives after the request.
    await expect.poll(() => accepted[0]?.readableEnded).toBe(true);
    release();
    expect(await reply).toMatch(/HTTP\/1.1 200 .*"is_valid":true/s);
  });

  it("and disconnects has its scan aborted", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { url, close } = await serving(scanner);
    onTestFinished(close);
    const socket = dial(url);
    socket.write(request('{"prompt":"x"}'));
    await started;
    socket.destroy();
    await aborted;
  });
});

describe("the timeout of bodies", () => {
  it("ends requests with incomplete bodies, and spares streams", async () => {
    const app = fastify({ serverFactory: httpServerFactory(), clientErrorHandler: handleClientError });
    onTestFinished(() => app.close());
    await app.register(bodyTimeout, { timeoutMs: 100 });
    app.post("/whole", async () => "whole");
    app.post("/stream", { config: { streams: true } }, async () => "stream");
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const send = (path: string, body: string) => {
      const socket = dial(url);
      const head = ["Host: x", "Content-Type: application/json", "Content-Length: 2", "Connection: close"];
      socket.write(`POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body}`);
      return { socket, reply: text(socket) };
    };
    const late = send("/stream", "{");
    expect(await send("/whole", "{").reply).toMatch(/^HTTP\/1.1 408 .*problem\+json/s);
    expect(await send("/whole", "{}").reply).toMatch(/^HTTP\/1.1 200 /);
    late.socket.write("}");
    expect(await late.reply).toMatch(/^HTTP\/1.1 200 /);
  });

  it("ends each of several late requests once, whatever their age", async () => {
    const app = fastify({ serverFactory: httpServerFactory(), clientErrorHandler: handleClientError });
    onTestFinished(() => app.close());
    await app.register(bodyTimeout, { timeoutMs: 100 });
    app.post("/", async () => "whole");
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const head = ["Host: x", "Content-Type: application/json", "Content-Length: 2"].join("\r\n");
    const replies: Promise<string>[] = [];
    for (let count = 0; count < 5; count++) {
      const socket = dial(url);
      socket.write(`POST / HTTP/1.1\r\n${head}\r\n\r\n{`);
      replies.push(text(socket));
      await sleep(25);
    }
    for (const reply of await Promise.all(replies)) expect(reply.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 408"]);
  });

  it("disconnects a client that stops sending after the response", async () => {
    const limits = { maxBytes: 1000, totalMs: 1000, idleMs: 100 };
    const app = fastify({ serverFactory: httpServerFactory(limits), clientErrorHandler: handleClientError });
    onTestFinished(() => app.close());
    app.post("/refused", { onRequest: (_, reply) => void reply.code(401).send("no") }, async () => "");
    const socket = dial(await app.listen({ port: 0, host: "127.0.0.1" }));
    socket.write("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
    expect(await text(socket).catch((error) => error.code)).toMatch(/^HTTP\/1.1 401 |ECONNRESET/);
  });
});

describe("malformed requests", () => {
  it.each([
    ["no host", HEAD.slice(1), 400],
    ["two hosts", [...HEAD, "Host: y"], 400],
    ["two credentials", [...HEAD, "Authorization: Bearer other"], 400],
    ["two content types", [...HEAD, "Content-Type: text/plain"], 400],
    ["an expectation that nobody knows", [...HEAD, "Expect: coffee"], 417],
    ["another transfer coding", [...HEAD, "Transfer-Encoding: gzip, chunked"], 501],
    ["headers that are too large", [...HEAD, `X-Long: ${"x".repeat(20_000)}`], 431],
  ])("get a problem with the cause: %s", async (_what, head, status) => {
    const sent = status === 501 ? `POST / HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n0\r\n\r\n` : request("{}", { head });
    const [first = "", body = ""] = (await answerTo(sent)).split("\r\n\r\n");
    expect(first).toMatch(new RegExp(`^HTTP/1.1 ${status} .*content-type: application/problem\\+json`, "is"));
    expect(JSON.parse(body)).toMatchObject({ status });
  });

  it("are rejected if a body has two lengths", async () => {
    const head = [...HEAD, "Transfer-Encoding: chunked"];
    expect(await answerTo(request("0\r\n\r\n", { head }))).toMatch(/^HTTP\/1.1 400 .*problem\+json/s);
  });
});
