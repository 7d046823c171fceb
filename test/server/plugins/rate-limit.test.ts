import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { standingClock, testServer, waitingScanner, wordScanner } from "../fixtures.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const BEARER = { type: "http_bearer", token: "token-1" };
const OTHER = { type: "http_bearer", token: "token-2" };

function serverWith(auth: unknown, config: ConfigInput = {}) {
  return testServer({ input: [wordScanner("x")] }, { ...config, auth });
}

describe("rate limits", () => {
  const limited = (key: "ip" | "credential", auth: unknown = undefined) =>
    serverWith(auth, { rateLimit: { enabled: true, limit: "2/minute", key } });

  it("reject excess requests by address", async () => {
    const { post, get } = await limited("ip");
    const first = await post("/scan/prompt", { prompt: "x" });
    expect(first.statusCode).toBe(200);
    expect(first.headers).toMatchObject({ "ratelimit-limit": "2", "ratelimit-remaining": "1" });
    expect(Number(first.headers["ratelimit-reset"])).toBeGreaterThan(0);
    await post("/scan/prompt", { prompt: "x" });
    const third = await post("/scan/prompt", { prompt: "x" });
    expect(third.statusCode).toBe(429);
    expect(Number(third.headers["retry-after"])).toBeGreaterThan(0);
    expect(third.headers).toMatchObject({ "ratelimit-remaining": "0", "content-type": "application/problem+json" });
    expect(third.json()).toMatchObject({ status: 429, title: "Too Many Requests" });
    expect((await get("/healthz")).statusCode).toBe(200);
  });

  it("count invalid credentials by address too", async () => {
    const { post } = await limited("ip", BEARER);
    for (const status of [401, 401, 429])
      expect((await post("/scan/prompt", {}, bearer("nope"))).statusCode).toBe(status);
  });

  it("count by credential", async () => {
    const { post } = await limited("credential", [BEARER, OTHER]);
    for (const status of [200, 200, 429]) {
      expect((await post("/scan/prompt", { prompt: "x" }, bearer("token-1"))).statusCode).toBe(status);
    }
    expect((await post("/scan/prompt", { prompt: "x" }, bearer("token-2"))).statusCode).toBe(200);
  });

  it("identify clients behind a trusted proxy, and ignore the header of other proxies", async () => {
    const from = (address: string) => ({ "x-forwarded-for": address });
    const cases: [NonNullable<ConfigInput["app"]>["trustProxy"], number][] = [
      [1, 200],
      [["loopback"], 200],
      [["192.0.2.1"], 429],
      [false, 429],
    ];
    for (const [trustProxy, status] of cases) {
      const { post } = await serverWith(undefined, {
        app: { trustProxy },
        rateLimit: { enabled: true, limit: "1/minute" },
      });
      await post("/scan/prompt", { prompt: "x" }, from("10.0.0.1"));
      expect((await post("/scan/prompt", { prompt: "x" }, from("10.0.0.2"))).statusCode).toBe(status);
    }
  });

  it("enforce several rates, and report the deciding one", async () => {
    const clock = standingClock();
    const limit = "4/minute;2/second, 100 per hour";
    const { post } = await serverWith(undefined, { rateLimit: { enabled: true, limit } });
    const call = async () => {
      const { statusCode, headers } = await post("/scan/prompt", { prompt: "x" });
      const { "ratelimit-limit": max, "ratelimit-remaining": remaining, "ratelimit-reset": reset } = headers;
      return [statusCode, max, remaining, reset, headers["retry-after"]].map(String).join(" ");
    };
    expect(await call()).toBe("200 2 1 1 undefined");
    expect(await call()).toBe("200 2 0 1 undefined");
    expect(await call()).toBe("429 2 0 1 1");
    clock.advance(1000);
    // The rejected request counts too. If two rates have equal remainders, the slower rate decides.
    expect(await call()).toBe("200 4 0 59 undefined");
    // Both rates reject. The longer wait is reported, because a retry after the shorter one would be rejected again.
    expect(await call()).toBe("429 4 0 59 59");
    expect(await call()).toBe("429 4 0 59 59");
    clock.advance(59_000);
    expect(await call()).toBe("200 2 1 1 undefined");
  });

  describe("by cost", () => {
    const costing = (characters: string, more: ConfigInput = {}) =>
      serverWith(undefined, { rateLimit: { enabled: true, limit: "1000/minute", characters }, ...more });
    /** A body with this number of characters. The name of its field counts as well. */
    const prompt = (length: number) => ({ prompt: "a".repeat(length - "prompt".length) });

    it("counts the characters of bodies, and rejects the excess", async () => {
      const clock = standingClock();
      const { post } = await costing("100/minute");
      const status = async (length: number) => (await post("/scan/prompt", prompt(length))).statusCode;
      expect(await status(60)).toBe(200);
      const refused = await post("/scan/prompt", prompt(41));
      expect(refused.statusCode).toBe(429);
      expect(refused.json().detail).toBe("Too many characters; try again in 60 s.");
      expect(refused.headers).toMatchObject({
        ...{ "ratelimit-limit": "100", "ratelimit-remaining": "40", "ratelimit-reset": "60", "retry-after": "60" },
      });
      // The rejected request took nothing, so a shorter text still passes. Its headers are those of the rate of requests.
      const fits = await post("/scan/prompt", prompt(40));
      expect(fits.statusCode).toBe(200);
      expect(fits.headers).toMatchObject({ "ratelimit-limit": "1000", "ratelimit-remaining": "997" });
      expect(await status(7)).toBe(429);
      clock.advance(60_000);
      expect(await status(100)).toBe(200);
      // No later retry could succeed.
      const never = await post("/scan/prompt", prompt(101));
      expect([never.statusCode, never.json().detail]).toEqual([
        413,
        "A request may have at most 100 characters (rate_limit.characters).",
      ]);
    });

    it.each<[string, object, number]>([
      ["/analyze/prompt", { prompt: "12345", vault: null, details: true }, 6 + 5 + 7],
      ["/analyze/output", { prompt: "123", output: "4567" }, 6 + 3 + 6 + 4],
      ["/scan/conversation", { messages: [{ role: "user", content: "123" }] }, 8 + 4 + 4 + 7 + 3],
      ["/scan/documents", { documents: ["12", "345"] }, 9 + 5],
      ["/v2/guard", { messages: [{ role: "user", content: "123" }] }, 8 + 4 + 4 + 7 + 3],
      ["/scan/output/stream", { prompt: "123", output: ["45", "6"] }, 6 + 3 + 6 + 3],
    ])("counts the body of %s", async (url, body, length) => {
      const { post } = await costing(`${length}/minute`, { dialects: ["lakera"] });
      expect((await post(url, body)).statusCode).toBe(200);
      expect((await post("/scan/prompt", { prompt: "" })).statusCode).toBe(429);
      const { post: other } = await costing(`${length - 1}/minute`, { dialects: ["lakera"] });
      expect((await other(url, body)).statusCode).toBe(413);
    });

    it("counts the pieces of a stream as they arrive", async () => {
      const { post } = await costing("40/minute");
      const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
      const stream = (text: string) => post("/analyze/output/stream", text, { "content-type": "application/x-ndjson" });
      const whole = await stream(lines({ prompt: "1234" }, "One. ", { text: "Two. " }, { end: true }));
      expect(whole.body).toContain('"event":"done"');
      const cut = await stream(lines({ prompt: "1234" }, "Three. ", "Four, five, six. ", { end: true }));
      const events = cut.body
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events.at(-1)).toMatchObject({ event: "error", status: 429 });
      expect((await stream(lines({ prompt: "1234" }))).statusCode).toBe(429);
    });

    it("counts a request with many texts as several requests", async () => {
      const app = await createServer({
        ...{ config: { rateLimit: { enabled: true, limit: "5/minute" } }, scanners: { input: [], output: [] } },
        logger: { write() {} },
      });
      onTestFinished(() => app.close());
      app.addHook("preHandler", async (request, reply) => {
        const { prompt = "" } = request.body as { prompt?: string };
        await app.callerLimits.takeRequests(request, reply, prompt.length - 1);
      });
      const post = (url: string, payload: object) => app.inject({ method: "POST", url, payload });
      const call = async (texts: string) => {
        const { statusCode, headers } = await post("/scan/prompt", { prompt: texts });
        return [statusCode, headers["ratelimit-remaining"]].map(Number);
      };
      expect(await call("aaa")).toEqual([200, 2]);
      expect(await call("aaa")).toEqual([429, 1]);
      expect(await call("a")).toEqual([200, 0]);
      expect((await call("aaaaaaaaa"))[0]).toBe(429);
    });

    it("limits the concurrent requests of a caller", async () => {
      const waiting = waitingScanner();
      const { post } = await testServer(
        { input: [waiting.scanner] },
        { auth: [BEARER, OTHER], rateLimit: { enabled: true, key: "credential", maxConcurrent: 2 } },
      );
      const call = (token: string) => post("/scan/prompt", { prompt: "a" }, bearer(token));
      const first = [call("token-1"), call("token-1")];
      await waiting.started;
      const refused = await call("token-1");
      expect(refused.statusCode).toBe(429);
      expect(refused.headers["retry-after"]).toBe("1");
      expect(refused.json().detail).toBe("More than 2 requests are in progress; try again in 1 s.");
      const other = call("token-2");
      waiting.release();
      expect((await Promise.all([...first, other])).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
      expect((await call("token-1")).statusCode).toBe(200);
    });

    it("frees the slot of a client that disconnects", async () => {
      const waiting = waitingScanner();
      const { app, post } = await testServer(
        { input: [waiting.scanner] },
        { rateLimit: { enabled: true, maxConcurrent: 1 } },
      );
      const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
      const headers =
        "POST /scan/prompt HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14";
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(`${headers}\r\n\r\n{"prompt":"a"}`);
      await waiting.started;
      expect((await post("/scan/prompt", { prompt: "a" })).statusCode).toBe(429);
      socket.destroy();
      await waiting.aborted;
      waiting.release();
      await vi.waitFor(async () => expect((await post("/scan/prompt", { prompt: "a" })).statusCode).toBe(200));
    });
  });

  it("are off by default", async () => {
    const { post } = await serverWith(undefined);
    expect((await post("/scan/prompt", { prompt: "x" })).headers).not.toHaveProperty("ratelimit-limit");
  });
});
