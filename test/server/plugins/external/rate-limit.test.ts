import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../../src/config/index.ts";
import { testServer, wordScanner } from "../../fixtures.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const BEARER = { type: "http_bearer", token: "token-1" };
const OTHER = { type: "http_bearer", token: "token-2" };

function serverWith(auth: unknown, config: ConfigInput = {}) {
  return testServer({ input: [wordScanner("x")] }, { ...config, auth });
}

describe("rate limits", () => {
  const limited = (key: "ip" | "credential", auth: unknown = undefined) =>
    serverWith(auth, { rateLimit: { enabled: true, limit: "2/minute", key } });

  it("refuses what is too much, by address", async () => {
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

  it("counts wrong credentials by address too", async () => {
    const { post } = await limited("ip", BEARER);
    for (const status of [401, 401, 429])
      expect((await post("/scan/prompt", {}, bearer("nope"))).statusCode).toBe(status);
  });

  it("counts by credential", async () => {
    const { post } = await limited("credential", [BEARER, OTHER]);
    for (const status of [200, 200, 429]) {
      expect((await post("/scan/prompt", { prompt: "x" }, bearer("token-1"))).statusCode).toBe(status);
    }
    expect((await post("/scan/prompt", { prompt: "x" }, bearer("token-2"))).statusCode).toBe(200);
  });

  it("tells clients behind a trusted proxy apart, and believes nobody else", async () => {
    const from = (address: string) => ({ "x-forwarded-for": address });
    for (const [trustProxy, status] of [
      [true, 200],
      [false, 429],
    ] as const) {
      const { post } = await serverWith(undefined, {
        app: { trustProxy },
        rateLimit: { enabled: true, limit: "1/minute" },
      });
      await post("/scan/prompt", { prompt: "x" }, from("10.0.0.1"));
      expect((await post("/scan/prompt", { prompt: "x" }, from("10.0.0.2"))).statusCode).toBe(status);
    }
  });

  it("holds each of several rates, and tells of the one that decides", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
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
    vi.advanceTimersByTime(1000);
    // The request that was refused counts too. Of two rates of which as little is left, the slower one decides.
    expect(await call()).toBe("200 4 0 59 undefined");
    // Both refuse. Whoever waits for the shorter time would be refused again.
    expect(await call()).toBe("429 4 0 59 59");
    expect(await call()).toBe("429 4 0 59 59");
    vi.advanceTimersByTime(59_000);
    expect(await call()).toBe("200 2 1 1 undefined");
  });

  it("is off by default", async () => {
    const { post } = await serverWith(undefined);
    expect((await post("/scan/prompt", { prompt: "x" })).headers).not.toHaveProperty("ratelimit-limit");
  });
});
