import { randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { standingClock, type TestServer, testServer } from "../fixtures.ts";
import { redisForTests, skipsRedis } from "./redis-server.ts";

const SCANNERS: ConfigInput = {
  inputScanners: [
    { type: "BanSubstrings", params: { substrings: ["zebra"], redact: true } },
    { type: "Regex", params: { patterns: ["[0-9]{3}"], redact: false } },
  ],
};
const key = () => randomBytes(32).toString("base64");

describe.skipIf(skipsRedis)("Redis", () => {
  const redis = redisForTests("GUARD_CACHE_KEY");

  const server = (config: ConfigInput) => testServer({}, { ...SCANNERS, ...config });
  /** A long timeout, because the machine of the tests may be busy. */
  const patiently = (prefix = "guard:") => ({ url: redis.url, timeout: 20, prefix });
  const caching = (more: ConfigInput = {}) => server({ cache: { enabled: true, redis: patiently() }, ...more });
  const limiting = (limit: string, prefix?: string) =>
    server({ rateLimit: { enabled: true, limit, redis: patiently(prefix) } });
  const scan = async ({ post }: TestServer, prompt = "A zebra 123 is here.", more: object = {}) =>
    (await post("/analyze/prompt", { prompt, details: true, ...more })).json();
  const useOf = async (of: TestServer, prompt?: string, more?: object) => (await scan(of, prompt, more)).cache;
  /** Waits until the cache has stored so many values, because it stores them in the background. */
  const kept = (count: number) =>
    vi.waitFor(async () =>
      expect((await redis.keys()).filter((name) => !name.includes(":verdict:"))).toHaveLength(count),
    );
  const metric = async ({ get }: TestServer, name: string) =>
    Number(new RegExp(`^${name.replace(/[{}]/g, "\\$&")} (\\d+)$`, "m").exec((await get("/metrics")).body)?.[1] ?? 0);
  const lines = ({ log }: TestServer, text: string) => log.filter((line) => line.includes(text));

  describe("a rate limit", () => {
    it("is shared by two servers, with each of its rates", async () => {
      const servers = [await limiting("5/day;3/hour"), await limiting("5/day;3/hour")] as const;
      const call = async (index: 0 | 1) => {
        const { statusCode, headers } = await servers[index].post("/scan/prompt", { prompt: "x" });
        return [statusCode, headers["ratelimit-limit"], headers["ratelimit-remaining"]].map(Number);
      };
      expect(await call(0)).toEqual([200, 3, 2]);
      expect(await call(1)).toEqual([200, 3, 1]);
      expect(await call(0)).toEqual([200, 3, 0]);
      expect(await call(1)).toEqual([429, 3, 0]);
      // Deletes the counter of the hour, as if the hour were over. A shorter interval could end by itself.
      await redis.client.del((await redis.keys()).find((name) => name.includes("/3600000:")) as string);
      expect(await call(0)).toEqual([200, 5, 0]);
      expect(await call(1)).toEqual([429, 5, 0]);
      expect((await redis.keys()).every((name) => name.startsWith("guard:rate:"))).toBe(true);
      for (const name of await redis.keys()) expect(await redis.client.pttl(name)).toBeGreaterThan(0);
    });

    it("of characters is shared too, and takes all of a body or nothing", async () => {
      const costing = () =>
        server({ rateLimit: { enabled: true, characters: "20/minute", maxConcurrent: 5, redis: patiently() } });
      const servers = [await costing(), await costing()] as const;
      const call = async (index: 0 | 1, prompt: string) => {
        const { statusCode, headers } = await servers[index].post("/scan/prompt", { prompt });
        return [statusCode, Number(headers["ratelimit-remaining"])];
      };
      expect(await call(0, "123456")).toEqual([200, 99]);
      expect(await call(1, "123")).toEqual([429, 8]);
      expect(await call(1, "12")).toEqual([200, 97]);
      expect(await call(0, "")).toEqual([429, 0]);
      expect(await redis.keys()).toContain("guard:characters:20/60000:{127.0.0.1}");
      for (const name of await redis.keys()) expect(await redis.client.pttl(name)).toBeGreaterThan(0);
    });

    it("is not shared under another prefix", async () => {
      const other = await limiting("1/minute", "other:");
      const { post } = await limiting("1/minute");
      expect((await post("/scan/prompt", { prompt: "x" })).statusCode).toBe(200);
      expect((await post("/scan/prompt", { prompt: "x" })).statusCode).toBe(429);
      expect((await other.post("/scan/prompt", { prompt: "x" })).statusCode).toBe(200);
    });
  });

  describe("a cache", () => {
    it("is shared by servers with the same key, and survives them", async () => {
      const one = await caching();
      const first = await scan(one);
      expect(first).toMatchObject({ is_valid: false, sanitized_prompt: "A [REDACTED] 123 is here.", cache: "miss" });
      await kept(1);
      expect(await scan(one)).toEqual({ ...first, cache: "hit" });
      await one.app.close();
      expect(await scan(await caching({ app: { scanPromptTimeout: 7, port: 1 } }))).toEqual({ ...first, cache: "hit" });
    });

    it("shares the verdicts of conversations too, unreadable in Redis", async () => {
      const messages = [
        { role: "user", content: "A zebra 123 is here." },
        { role: "assistant", content: "Yes?" },
        { role: "user", content: "And 456." },
      ];
      const ask = async (of: TestServer) => {
        const {
          timing: _,
          engine_timing: __,
          cache: ___,
          checks,
          ...answer
        } = (await of.post("/analyze/conversation", { messages, details: true })).json();
        return { ...answer, checks: checks.map(({ timing: _, ...check }: { timing: number }) => check) };
      };
      const one = await caching();
      const first = await ask(one);
      expect(first).toMatchObject({ is_valid: false });
      const verdicts = async () => (await redis.keys()).filter((name) => name.startsWith("guard:verdict:"));
      await vi.waitFor(async () => expect((await verdicts()).length).toBeGreaterThan(0));
      for (const name of await verdicts()) {
        expect(await redis.client.get(name)).not.toContain("zebra");
        expect(await redis.client.pttl(name)).toBeGreaterThan(0);
      }
      await redis.client.del(...(await redis.keys()).filter((name) => name.startsWith("guard:scan:")));
      expect(await ask(await caching())).toEqual(first);
    });

    it("is not shared by servers with other keys, scanners, options or credentials", async () => {
      await scan(await caching());
      await kept(1);
      const other = { inputScanners: [...(SCANNERS.inputScanners ?? []), { type: "InvisibleText" }] };
      expect(await useOf(await caching(other))).toBe("miss");
      expect(await useOf(await caching({ app: { scanFailFast: true } }))).toBe("miss");
      const auth = (token: string) => ({ auth: { type: "http_bearer", token } });
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
      const body = { prompt: "A zebra 123 is here.", details: true };
      for (const token of ["one", "two"]) {
        const { post } = await caching(auth(token));
        expect((await post("/analyze/prompt", body, bearer(token))).json().cache).toBe("miss");
      }
      expect(await useOf(await caching())).toBe("hit");
      vi.stubEnv("GUARD_CACHE_KEY", key());
      expect(await useOf(await caching())).toBe("miss");
      vi.stubEnv("GUARD_CACHE_KEY", "");
      const without = await caching();
      expect(await useOf(without)).toBe("miss");
      expect(lines(without, "GUARD_CACHE_KEY: not set")).toHaveLength(1);
    });

    it("stores nothing in plain text", async () => {
      const secrets = ["zebra CANARY-1", "CANARY-2 🦓"];
      const of = await caching({ outputScanners: [{ type: "BanSubstrings", params: { substrings: ["CANARY-2"] } }] });
      await scan(of, secrets[0]);
      await of.post("/analyze/output", { prompt: secrets[0], output: secrets[1], details: true });
      await of.post("/analyze/conversation", { messages: [{ role: "user", content: secrets[0] }], details: true });
      await kept(3);
      const dump = await redis.dump();
      expect(dump.length).toBeGreaterThan(600);
      for (const word of ["CANARY", "zebra", "🦓", "REDACTED", "isValid", "BanSubstrings"]) {
        expect(dump.includes(word), word).toBe(false);
        expect(dump.toString("latin1").includes(Buffer.from(word).toString("base64").slice(0, 6)), word).toBe(false);
      }
    });

    it("evicts entries older than ttl", async () => {
      const of = await server({ cache: { enabled: true, ttl: 60, redis: patiently() } });
      await scan(of);
      await kept(1);
      const [name] = (await redis.keys()) as [string];
      const left = await redis.client.pttl(name);
      expect(left).toBeGreaterThan(50_000);
      expect(left).toBeLessThanOrEqual(60_000);
      // A client with access to Redis cannot extend the life of a result.
      await redis.client.persist(name);
      expect(await useOf(of)).toBe("hit");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
      expect(await useOf(of).finally(() => vi.useRealTimers())).toBe("miss");
    });

    it("ignores entries that it has not written itself", async () => {
      const of = await caching();
      await scan(of, "harmless");
      await kept(1);
      const [harmless] = (await redis.keys()) as [string];
      await scan(of, "A zebra.");
      await kept(2);
      const bad = (await redis.keys()).find((name) => name !== harmless) as string;
      const value = (await redis.client.getBuffer(harmless)) as Buffer;
      for (const forged of [value, Buffer.alloc(0), Buffer.from("{}"), value.subarray(1)]) {
        await redis.client.set(bad, forged);
        expect(await scan(of, "A zebra.")).toMatchObject({ is_valid: false, cache: "miss" });
      }
      expect(await useOf(of, "harmless")).toBe("hit");
    });
  });

  describe("that does not respond", () => {
    const both = (onRedisError: "allow" | "deny") =>
      server({
        cache: { enabled: true, redis: { url: redis.url, timeout: 0.5 } },
        rateLimit: { enabled: true, limit: "100/minute", redis: { url: redis.url, timeout: 0.5 }, onRedisError },
        metrics: { public: true },
      });
    const call = async ({ post }: TestServer, prompt = "x") => {
      const { statusCode, headers } = await post("/scan/prompt", { prompt, details: true });
      return { statusCode, isCounted: "ratelimit-limit" in headers };
    };

    it.each(["paused", "killed"])("disables the cache and follows on_redis_error, when %s", async (how) => {
      const clock = standingClock();
      const allowing = await both("allow");
      const denying = await both("deny");
      for (const of of [allowing, denying]) expect(await call(of)).toEqual({ statusCode: 200, isCounted: true });
      if (how === "paused") redis.pause();
      else await redis.kill();
      onTestFinished(() => redis.resume());
      for (let turn = 0; turn < 3; turn++) {
        expect(await call(allowing)).toEqual({ statusCode: 200, isCounted: false });
        expect(await call(denying)).toEqual({ statusCode: 503, isCounted: false });
      }
      expect((await denying.post("/scan/prompt", { prompt: "x" })).headers["retry-after"]).toBe("1");
      expect((await allowing.post("/scan/prompt", { prompt: "x", details: true })).json().cache).toBe("miss");
      expect(await metric(allowing, 'guard_redis_failures_total{use="rate_limit"}')).toBe(4);
      expect(await metric(allowing, 'guard_redis_failures_total{use="cache"}')).toBeGreaterThanOrEqual(4);
      expect(await metric(denying, 'guard_redis_failures_total{use="rate_limit"}')).toBe(4);
      if (how === "paused") redis.resume();
      else await redis.start();
      // The server reconnects after a second.
      clock.advance(1500);
      for (const of of [allowing, denying]) {
        await vi.waitFor(async () => expect(await call(of)).toEqual({ statusCode: 200, isCounted: true }), {
          timeout: 10_000,
        });
        expect(lines(of, "Redis does not respond")).toHaveLength(1);
        expect(lines(of, "Redis responds again")).toHaveLength(1);
      }
    });

    it("does not keep a server from starting, and its password is not logged", async () => {
      const url = "redis://user:CANARY-1@127.0.0.1:1";
      const settings = { url: "redis://127.0.0.1:1", password: "CANARY-2" };
      const of = await server({
        cache: { enabled: true, redis: url },
        rateLimit: { enabled: true, limit: "1/minute", redis: settings },
      });
      for (let turn = 0; turn < 3; turn++) expect(await call(of)).toEqual({ statusCode: 200, isCounted: false });
      expect(lines(of, "Redis does not respond")).toHaveLength(2);
      expect(lines(of, '"reason":"ECONNREFUSED"')).toHaveLength(2);
      expect(lines(of, "127.0.0.1:1")).toHaveLength(2);
      expect(of.log.join("")).not.toContain("CANARY");
    });

    it("includes one that rejects the password", async () => {
      await redis.client.config("SET", "requirepass", "another");
      onTestFinished(async () => void (await redis.client.config("SET", "requirepass", "")));
      const of = await server({ cache: { enabled: true, redis: { ...patiently(), password: "CANARY" } } });
      for (let turn = 0; turn < 2; turn++) expect(await useOf(of)).toBe("miss");
      expect(lines(of, '"reason":"WRONGPASS"')).toHaveLength(1);
      expect(of.log.join("")).not.toContain("CANARY");
    });
  });

  it("that rejects writes disables the cache only, and is logged once", async () => {
    const of = await server({
      cache: { enabled: true, redis: patiently() },
      rateLimit: { enabled: true, limit: "100/minute", redis: patiently(), onRedisError: "deny" },
      metrics: { public: true },
    });
    await redis.client.acl("SETUSER", "default", "-set");
    onTestFinished(async () => void (await redis.client.acl("SETUSER", "default", "+@all")));
    for (let turn = 0; turn < 3; turn++) expect(await useOf(of, "x")).toBe("miss");
    await vi.waitFor(async () => expect(await metric(of, 'guard_redis_failures_total{use="cache"}')).toBe(3));
    expect(await metric(of, 'guard_redis_failures_total{use="rate_limit"}')).toBe(0);
    expect(lines(of, '"reason":"NOPERM"')).toHaveLength(1);
    expect(lines(of, "does not answer")).toHaveLength(0);
  });
});
