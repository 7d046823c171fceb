import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { PassThroughGuard } from "../../test/support/pass-through-guard.ts";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";
import { startedProxy } from "./started.ts";

const upstream = upstreamForTests();

const CHAT = "/v1/chat/completions";
const chunk = (content: string) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt",
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const body = (more: object = {}) =>
  JSON.stringify({ model: "gpt", messages: [{ role: "user", content: "Hi" }], ...more });
const post = (url: string, text = body({ stream: true }), signal?: AbortSignal) =>
  fetch(url + CHAT, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: text,
    ...(signal ? { signal } : {}),
  });

/** An event stream that stays open and sends nothing. */
async function* silent(): AsyncGenerator<string> {
  yield* sse([chunk("One. ")], "");
  await new Promise<never>(() => {});
}

/** A server with a handler for raw connections. */
async function bareServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("limits of guard proxy", () => {
  it("reject a body that is too large", async () => {
    const { url } = await startedProxy(upstream.url, { maxBodySize: 2000 });
    const reply = await post(url, body({ user: "u".repeat(3000) }));
    expect(reply.status).toBe(413);
    expect(await reply.json()).toMatchObject({ error: { message: "The body has more than 2000 bytes (--max-body)." } });
    expect(upstream.received).toEqual([]);
  });

  it("reject an answer that is too large, and end a stream that grows too large", async () => {
    const { url } = await startedProxy(upstream.url, { maxAnswerSize: 5000, guard: new PassThroughGuard() });
    upstream.answers = [{ json: { choices: [], filler: "word ".repeat(2000) } }];
    const reply = await post(url, body());
    expect([reply.status, await reply.json()]).toMatchObject([
      502,
      { error: { message: expect.stringContaining("too large") } },
    ]);
    let goOn = () => {};
    const opened = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* growing(): AsyncGenerator<string> {
      for (let count = 0; count < 20; count++) {
        yield* sse([chunk("word ".repeat(100))], "");
        await opened;
      }
    }
    upstream.answers = [{ pieces: growing() }];
    const stream = await post(url);
    expect(stream.status).toBe(200);
    goOn();
    await expect(stream.text()).rejects.toThrow();
  });

  it("reject an answer for which there is no memory, and accept it when there is some", async () => {
    const through = new PassThroughGuard();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const guard: Guard = {
      close: async () => {},
      call(options) {
        const call = through.call(options);
        const answer: typeof call.answer = async (given) => {
          await released;
          return call.answer(given);
        };
        return { ...call, answer };
      },
    };
    const { url } = await startedProxy(upstream.url, { guard, maxOpenAnswers: 50_000 });
    const message = { role: "assistant", content: "word ".repeat(4000) };
    upstream.answers = [{ json: { choices: [{ index: 0, message }] } }];
    const first = post(url, body());
    await expect.poll(() => through.signals.length).toBe(1);
    await sleep(100);
    const refused = await post(url, body());
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
      503,
      "1",
      { error: { type: "api_error", message: expect.stringContaining("50000 bytes (--max-answers)") } },
    ]);
    release();
    expect((await first).status).toBe(200);
    await (await first).text();
    const again = await post(url, body());
    expect([again.status, (await again.text()).length > 20_000]).toEqual([200, true]);
  });

  it("end streams that hold back more than the memory for answers, and no others", async () => {
    const { url } = await startedProxy(upstream.url, { guard: new PassThroughGuard(), maxOpenAnswers: 200_000 });
    const long = Array.from({ length: 400 }, () => chunk("word ".repeat(1000)));
    upstream.answers = [{ pieces: sse(long) }];
    expect((await (await post(url)).text()).length).toBeGreaterThan(2_000_000);
    const call = (piece: string) => ({ index: 0, id: "call_1", function: { name: "f", arguments: piece } });
    const calls = (piece: string) => ({ ...chunk(""), choices: [{ index: 0, delta: { tool_calls: [call(piece)] } }] });
    const held = [
      sse(Array.from({ length: 400 }, () => calls("1".repeat(1000)))),
      // An event that never ends.
      ["data: {", ...Array.from({ length: 400 }, () => " ".repeat(1000))],
    ];
    for (const pieces of held) {
      upstream.answers = [{ pieces }];
      const text = await (await post(url)).text();
      expect(text).toContain("200000 bytes (--max-answers)");
      expect(text).toContain("data: [DONE]");
      expect(text.length).toBeLessThan(1000);
    }
  });

  it("reject an excess call, and accept it when a slot is free", async () => {
    const { url } = await startedProxy(upstream.url, { maxCalls: 1, guard: new PassThroughGuard() });
    upstream.answers = [{ pieces: silent() }, { pieces: sse([chunk("Two.")]) }];
    const first = new AbortController();
    const open = await post(url, undefined, first.signal);
    await open.body?.getReader().read();
    const second = await post(url);
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    first.abort();
    await expect.poll(async () => (await post(url)).status).toBe(200);
  });

  it("report an unreachable upstream", async () => {
    const { url } = await startedProxy("http://127.0.0.1:9");
    const reply = await post(url);
    expect(reply.status).toBe(502);
    expect(await reply.json()).toMatchObject({
      error: { type: "api_error", message: "The upstream could not be reached: ECONNREFUSED." },
    });
  });

  it("report an upstream that has sent nothing for too long", async () => {
    const slow = await bareServer(() => {});
    const { url } = await startedProxy(slow, { idleTimeout: 0.2 });
    const reply = await post(url);
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({ error: { message: "The upstream did not respond in time." } });
  });

  it("cut off the answer if upstream disconnects or falls silent", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const event = `data: ${JSON.stringify(chunk("One. "))}\n\n`;
    const piece = `${event.length.toString(16)}\r\n${event}\r\n`;
    const breaking = await bareServer((socket) =>
      socket.once("data", () => {
        socket.write(head + piece);
        socket.destroySoon();
      }),
    );
    const quiet = await bareServer((socket) => socket.once("data", () => socket.write(head + piece)));
    for (const upstreams of [breaking, quiet]) {
      const { url, calls } = await startedProxy(upstreams, { guard: new PassThroughGuard(), idleTimeout: 0.3 });
      const reply = await post(url);
      expect(reply.status).toBe(200);
      await expect(reply.text()).rejects.toThrow();
      await expect.poll(calls).toMatchObject([{ cut: "by upstream" }]);
    }
  });

  it("return 502 if upstream disconnects during an unstreamed answer", async () => {
    const breaking = await bareServer((socket) =>
      socket.once("data", () => {
        socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
      }),
    );
    const { url } = await startedProxy(breaking);
    expect((await post(url, body())).status).toBe(502);
  });

  it("abort the upstream call and the checks if the client disconnects", async () => {
    const guard = new PassThroughGuard();
    const { url, calls } = await startedProxy(upstream.url, { guard });
    upstream.answers = [{ pieces: silent() }];
    const gone = new AbortController();
    const reply = await post(url, undefined, gone.signal);
    await reply.body?.getReader().read();
    expect(upstream.gone).toBe(0);
    gone.abort();
    await expect.poll(() => upstream.gone).toBe(1);
    await expect.poll(() => guard.signals[0]?.aborted).toBe(true);
    await expect.poll(calls).toMatchObject([{ cut: "by client" }]);
  });

  it("start no upstream call for a client that disconnected during the checks", async () => {
    let judged = () => {};
    const through = new PassThroughGuard();
    const guard: Guard = {
      close: async () => {},
      call(options) {
        const call = through.call(options);
        const request: typeof call.request = async (chat) => {
          await new Promise<void>((resolve) => {
            judged = resolve;
          });
          return call.request(chat);
        };
        return { ...call, request };
      },
    };
    const { url } = await startedProxy(upstream.url, { guard });
    const gone = new AbortController();
    const sent = post(url, undefined, gone.signal).catch(() => {});
    await expect.poll(() => through.signals.length).toBe(1);
    gone.abort();
    await sent;
    await expect.poll(() => through.signals[0]?.aborted).toBe(true);
    judged();
    await sleep(50);
    expect(upstream.received).toEqual([]);
  });

  it("apply the client's backpressure to upstream", async () => {
    const events = Buffer.from(
      sse(
        Array.from({ length: 50 }, () => chunk("word ".repeat(200))),
        "",
      ).join(""),
    );
    let produced = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        produced += events.length;
        yield events;
      }
    }
    const { url } = await startedProxy(upstream.url, { guard: new PassThroughGuard() });
    upstream.answers = [{ pieces: endless() }];
    const { hostname, port } = new URL(url);
    const client = connect(Number(port), hostname);
    onTestFinished(() => void client.destroy());
    const text = body({ stream: true });
    client.pause();
    client.write(
      `POST ${CHAT} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    // All buffers on the way fill up, and then the proxy reads nothing more.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = produced > 0 && produced === before;
          before = produced;
          return isStill;
        },
        { interval: 500, timeout: 20_000 },
      )
      .toBe(true);
    expect(produced).toBeLessThan(30_000_000);
  });

  it("keep an answer of 10 MB out of memory", async () => {
    const { url } = await startedProxy(upstream.url, { guard: new PassThroughGuard() });
    const piece = "word ".repeat(2000);
    async function* long(): AsyncGenerator<string> {
      for (let count = 0; count < 1000; count++) yield* sse([chunk(piece)], "");
      yield "data: [DONE]\n\n";
    }
    upstream.answers = [{ pieces: long() }];
    const reply = await post(url);
    let length = 0;
    let most = 0;
    const start = process.memoryUsage().rss;
    for await (const bytes of reply.body as unknown as AsyncIterable<Uint8Array>) {
      length += bytes.length;
      most = Math.max(most, process.memoryUsage().rss - start);
    }
    expect(length).toBeGreaterThan(10_000_000);
    // The memory includes the test's own server, client and garbage.
    expect(most).toBeLessThan(150_000_000);
  });
});

describe("the shutdown of guard proxy", () => {
  it("lets running calls finish, and rejects new ones", async () => {
    const { url, close } = await startedProxy(upstream.url, { guard: new PassThroughGuard() });
    let goOn = () => {};
    async function* waiting(): AsyncGenerator<string> {
      yield* sse([chunk("One. ")], "");
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield* sse([chunk("Two.")]);
    }
    upstream.answers = [{ pieces: waiting() }];
    const agent = new http.Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const reply = await post(url);
    const closed = close();
    // An open connection gets 503, and a new one is rejected.
    const status = () =>
      post(url).then(
        (reply) => reply.status,
        () => 503,
      );
    await expect.poll(status).toBe(503);
    goOn();
    expect(await reply.text()).toContain("Two.");
    await closed;
    await expect(post(url)).rejects.toThrow();
  });
});
