import dns from "node:dns";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { passed } from "../../../src/scan/scanner.ts";
import { type ListenOptions, startServer } from "../../../src/server/index.ts";
import { acceptedSockets } from "../../support/accepted-sockets.ts";
import { scannerOf, testServer, waitingScanner, wordScanner } from "../fixtures.ts";

/** Starts a server on a free port. */
async function listening(options: Partial<ListenOptions>) {
  const log: string[] = [];
  const server = await startServer({ config: {}, port: 0, logger: { write: (line) => log.push(line) }, ...options });
  onTestFinished(() => server.close());
  return { ...server, log };
}

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

/** Makes localhost resolve to an IPv4 and an IPv6 address, because not every machine has both in its hosts file. */
function onBothAddresses() {
  const { lookup } = dns;
  const both = vi.spyOn(dns, "lookup").mockImplementation(((host: string, ...rest: unknown[]) => {
    const [options] = rest as [{ all?: boolean }];
    const done = rest.at(-1) as (error: null, addresses: dns.LookupAddress[]) => void;
    if (host !== "localhost" || !options.all) return lookup(host, ...(rest as [never]));
    done(null, [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
  }) as typeof lookup);
  onTestFinished(() => both.mockRestore());
}

/** Starts a server for localhost, with a running scan on either address. */
async function scanningOnBothAddresses() {
  onBothAddresses();
  const scans = [waitingScanner(), waitingScanner()] as const;
  let closed = false;
  const scanner = scannerOf("Waiting", (text, context) => scans[text === "x" ? 0 : 1].scanner.scan(text, context), {
    close: async () => {
      closed = true;
    },
  });
  const { url, close } = await listening({ scanners: { input: [scanner] }, host: "localhost" });
  const { port } = new URL(url);
  const answers = [
    post(`http://127.0.0.1:${port}/scan/prompt`, { prompt: "x" }).answer,
    post(`http://[::1]:${port}/scan/prompt`, { prompt: "y" }).answer,
  ];
  await Promise.all(scans.map(({ started }) => started));
  return { scans, answers, close, isClosed: () => closed };
}

/** Whether a server answers at the URL. */
function state(url: string) {
  return fetch(url).then(
    () => "up",
    () => "down",
  );
}

function post(url: string, body: unknown, agent?: Agent) {
  const headers = { "content-type": "application/json" };
  const sent = request(url, { method: "POST", headers, ...(agent ? { agent } : {}) });
  const answer = new Promise<{ status: number | undefined; headers: Record<string, unknown> }>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers }));
    });
  });
  sent.end(JSON.stringify(body));
  return { sent, answer };
}

describe("readiness", () => {
  it("waits for the models, and so do scans", async () => {
    let finish: () => void = () => {};
    const loading = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const scanner = wordScanner("x", { load: () => loading });
    const server = await testServer({ input: [scanner] });
    for (const reply of [await server.get("/readyz"), await server.post("/scan/prompt", { prompt: "x" })]) {
      expect(reply.statusCode).toBe(503);
      expect(reply.headers["retry-after"]).toBeTruthy();
      expect(reply.headers["content-type"]).toBe("application/problem+json");
    }
    expect((await server.get("/healthz")).json()).toEqual({ status: "alive" });
    expect((await server.get("/")).json()).toEqual({ name: "LLM Guard API" });
    finish();
    await new Promise(setImmediate);
    expect((await server.get("/readyz")).json()).toEqual({ status: "ready" });
    expect((await server.post("/scan/prompt", { prompt: "x" })).statusCode).toBe(200);
  });

  it("is immediate with lazy_load, which loads nothing", async () => {
    const load = () => Promise.reject(new Error("must not be called"));
    const { get } = await testServer({ input: [wordScanner("x", { load })] }, { app: { lazyLoad: true } });
    expect((await get("/readyz")).statusCode).toBe(200);
  });

  it("never comes if a model cannot be loaded", async () => {
    const { get, post, log } = await testServer({
      input: [wordScanner("x", { load: () => Promise.reject(new Error("no file")) })],
    });
    expect((await get("/readyz")).statusCode).toBe(503);
    expect((await post("/scan/prompt", { prompt: "x" })).json().detail).toContain("Word could not be loaded");
    expect(log.join("")).toContain("no file");
  });
});

describe("startServer", () => {
  it("listens, logs the address, and closes its scanners", async () => {
    let closed = 0;
    const close = async () => {
      closed++;
    };
    const { url, close: stop, log } = await listening({ scanners: { input: [wordScanner("x", { close })] } });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "alive" });
    expect(log.map((line) => JSON.parse(line).msg)).toContain("serving");
    expect(log.join("")).toContain("this machine only");
    await Promise.all([stop(), stop()]);
    expect(closed).toBe(1);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("rejects a public address without a credential", async () => {
    await expect(startServer({ config: {}, scanners: {}, host: "0.0.0.0" })).rejects.toMatchObject({ path: "auth" });
    await expect(startServer({ config: { app: { host: "0.0.0.0" } }, scanners: {} })).rejects.toMatchObject({
      path: "auth",
    });
  });

  it("closes when its signal is aborted", async () => {
    const stop = new AbortController();
    const { url } = await listening({ scanners: {}, signal: stop.signal });
    stop.abort();
    await expect.poll(() => state(url)).toBe("down");
  });

  it("closes with an exit code if a model cannot be loaded", async () => {
    const code = process.exitCode;
    onTestFinished(() => {
      process.exitCode = code;
    });
    const load = () => Promise.reject(new Error("no file"));
    const { url } = await listening({ scanners: { input: [wordScanner("x", { load })] } });
    await expect.poll(() => state(url)).toBe("down");
    expect(process.exitCode).toBe(2);
  });

  it("finishes running requests when it closes, and rejects new ones", async () => {
    const { scanner, started, release } = waitingScanner();
    let closedWhileScanning = false;
    let scanning = true;
    scanner.close = async () => {
      closedWhileScanning = scanning;
    };
    const { url, close } = await listening({ scanners: { input: [scanner] } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const first = post(`${url}/scan/prompt`, { prompt: "x" }, agent).answer;
    await started;

    // The second request uses a connection that was open before.
    const { port } = new URL(url);
    const accepted = acceptedSockets();
    const socket = connect(Number(port), "127.0.0.1");
    const received: string[] = [];
    socket.on("data", (data) => received.push(String(data)));
    socket.write("POST /scan/prompt HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 14\r\n");
    await expect.poll(() => accepted[0]?.bytesRead).toBeGreaterThan(0);
    const stopped = close();
    await expect.poll(() => state(url)).toBe("down");
    socket.write('\r\n{"prompt":"y"}');
    await expect.poll(() => received.join("")).toContain("503 Service Unavailable");
    expect(received.join("").toLowerCase()).toContain("connection: close");
    expect(received.join("").toLowerCase()).toContain("retry-after");

    scanning = false;
    release();
    const { status, headers } = await first;
    expect([status, headers.connection]).toEqual([200, "close"]);
    await stopped;
    expect(closedWhileScanning).toBe(false);
  });

  it.runIf(hasIPv6)("finishes running requests on every address of localhost", async () => {
    const { scans, answers, close, isClosed } = await scanningOnBothAddresses();
    const stopped = close();
    for (const [index, answer] of answers.entries()) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isClosed()).toBe(false);
      scans[index]?.release();
      expect((await answer).status).toBe(200);
    }
    await stopped;
    expect(isClosed()).toBe(true);
  });

  it.runIf(hasIPv6)("aborts running requests after a grace period, on every address of localhost", async () => {
    const { answers, close } = await scanningOnBothAddresses();
    const ends = Promise.allSettled(answers);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = close();
    await vi.advanceTimersByTimeAsync(34_900);
    await new Promise(setImmediate);
    expect(await Promise.race([...answers, "busy"])).toBe("busy");
    // Time advances in steps, because the server waits for requests on the second address only after those on the first have
    // finished.
    let stopping = true;
    stopped.finally(() => {
      stopping = false;
    });
    while (stopping) {
      await vi.advanceTimersByTimeAsync(100);
      await new Promise(setImmediate);
    }
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("aborts the scan of a client that disconnects", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { url } = await listening({ scanners: { input: [scanner] } });
    const { sent, answer } = post(`${url}/scan/prompt`, { prompt: "x" });
    answer.catch(() => {});
    await started;
    sent.destroy();
    await aborted;
  });

  it("does not abort the scan of a client that waits", async () => {
    const slow = scannerOf("Slow", async (text, { signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      signal?.throwIfAborted();
      return passed(text);
    });
    const { url } = await listening({ scanners: { input: [slow] } });
    expect((await post(`${url}/scan/prompt`, { prompt: "x" }).answer).status).toBe(200);
  });

  it("logs one line without a stack for a client that leaves while it sends a body", async () => {
    const { url, log } = await listening({ scanners: {} });
    const head =
      "POST /scan/prompt HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n";
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`${head}{"prompt": "x`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await expect.poll(() => log.filter((line) => line.includes('"route":"/scan/prompt"')).length).toBe(1);
    expect(log.join("")).toContain("client disconnected");
    expect(log.join("")).not.toMatch(/stack|request failed/);
  });

  it("fails before it loads a model if it cannot listen, and logs the reason once", async () => {
    const { url } = await listening({ scanners: {} });
    const load = vi.fn(async () => {});
    const log: string[] = [];
    const started = startServer({
      config: {},
      port: Number(new URL(url).port),
      scanners: { input: [wordScanner("x", { load })] },
      logger: { write: (line) => log.push(line) },
    });
    await expect(started).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(load).not.toHaveBeenCalled();
    expect(log.join("")).not.toMatch(/stack|could not be loaded/);
  });

  it("answers bytes that are not HTTP with a problem", async () => {
    const { url, log } = await listening({ scanners: {} });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const received: string[] = [];
    socket.on("data", (data) => received.push(String(data)));
    socket.write("CANARY\r\n\r\n");
    await new Promise((resolve) => socket.on("close", resolve));
    expect(received.join("")).toContain("application/problem+json");
    expect(received.join("") + log.join("")).not.toContain("CANARY");
  });

  it("closes the connection of a client that sent no HTTP and stays connected", async () => {
    const { url } = await listening({ scanners: {} });
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    const ended = new Promise((resolve) => socket.on("end", resolve));
    socket.resume();
    socket.write("no HTTP\r\n\r\n");
    await ended;
    // A write to a closed connection fails.
    const gone = new Promise((resolve) => socket.on("close", resolve));
    const writing = setInterval(() => socket.write("more"), 20);
    await gone;
    clearInterval(writing);
  });

  it("does not wait for idle connections when it closes", async () => {
    const { url, close } = await listening({ scanners: {} });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    const gone = new Promise((resolve) => socket.on("close", resolve));
    await new Promise((resolve) => socket.on("connect", resolve));
    await Promise.all([close(), gone]);
    // This is less than the time that the server waits for running scans.
  }, 10_000);
});
