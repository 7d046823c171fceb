import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { startServer } from "../../../src/server/index.ts";
import { startCliServer } from "../../support/cli-server.ts";
import { type TestServer, testServer, wordScanner } from "../fixtures.ts";
import { redisForTests, skipsRedis } from "./redis-server.ts";

const INSTANCES = "guard:{traffic}:instances";
const WAIT = { timeout: 20_000, interval: 100 };
const SCANNERS = { input: [wordScanner("zebra", { name: 'Words, "quoted"' })], output: [wordScanner("lion")] };

/** Starts a server of two processes. */
async function startWorkers(redis: string) {
  const folder = mkdtempSync(join(tmpdir(), "guard-traffic-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "scanners.yml");
  const scanners = "input_scanners: [{ type: BanSubstrings, params: { substrings: [zebra] } }]";
  const settings = `app: { log_level: info }\ntraffic: { redis: { url: "${redis}", timeout: 20 } }`;
  writeFileSync(file, `${settings}\n${scanners}\n`);
  const { child, log } = startCliServer("serve", [file, "--port", "0", "--workers", "2"]);
  const isReady = () => log.some(({ msg }) => msg === "all processes are ready");
  await expect.poll(isReady, { timeout: 30_000 }).toBe(true);
  const url = String(log.find(({ msg }) => msg === "serving")?.url);
  /** Sends a request on a new connection, so that the processes take turns. */
  const post = (prompt: string) =>
    fetch(`${url}/scan/prompt`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ prompt }),
    });
  return { child, post };
}

describe.skipIf(skipsRedis)("traffic of several servers in Redis", () => {
  const redis = redisForTests();

  const traffic = (timeout = 20) => ({ traffic: { redis: { url: redis.url, timeout } } });
  const server = (config: ConfigInput = {}) => testServer(SCANNERS, { ...traffic(), ...config });
  const scan = async ({ post }: TestServer, ...prompts: string[]) => {
    for (const prompt of prompts) expect((await post("/scan/prompt", { prompt })).statusCode).toBe(200);
  };
  const view = async ({ get }: TestServer, minutes = 15) => (await get(`/admin/traffic?minutes=${minutes}`)).json();
  const outcomes = ({ minutes }: { minutes: { outcomes: Record<string, number> }[] }) => {
    const sum: Record<string, number> = {};
    for (const minute of minutes) {
      for (const [name, amount] of Object.entries(minute.outcomes)) sum[name] = (sum[name] ?? 0) + amount;
    }
    return sum;
  };
  const sumOf = async (of: TestServer) => {
    const reply = await view(of);
    return { ...outcomes(reply), instances: reply.instances, redis: reply.redis };
  };

  it("is summed, by minute, scanner, source, credential, profile and error", async () => {
    const [one, other] = [await server(), await server()];
    await scan(one, "a zebra", "a cat");
    await scan(other, "a zebra");
    await other.post("/scan/output", { prompt: "Hi", output: "A lion" });
    await other.post("/scan/prompt", { prompt: 7 });
    await vi.waitFor(async () => {
      const reply = await view(one);
      expect(outcomes(reply)).toEqual({ passed: 1, blocked: 3 });
      expect(reply).toMatchObject({
        ...{ instances: 2, redis: "up" },
        scanners: { input: { 'Words, "quoted"': { passed: 1, failed: 2 } }, output: { Word: { failed: 1 } } },
        sources: { user: { passed: 1, failed: 2 }, output: { failed: 1 } },
        credentials: { anybody: { passed: 1, blocked: 3 } },
        profiles: { default: { passed: 1, blocked: 3 } },
        errors: { 422: 1 },
      });
      // The list of decisions is that of one server.
      expect(reply.decisions).toHaveLength(2);
    }, WAIT);
    expect(await sumOf(other)).toEqual(await sumOf(one));
    const keys = await redis.keys();
    expect(keys.length).toBeGreaterThan(2);
    for (const key of keys) {
      expect(await redis.client.ttl(key), key).toBeGreaterThan(0);
      const values = /instances/.test(key)
        ? await redis.client.zrange(key, "0", "-1")
        : await redis.client.hgetall(key);
      expect(JSON.stringify(values)).not.toMatch(/zebra|cat|lion|Hi/);
    }
  });

  it("keeps the counts of a server that has ended, and of the one that replaces it", async () => {
    const [one, other] = [await server(), await server()];
    await scan(one, "a zebra");
    await scan(other, "a zebra", "a cat");
    await other.app.close();
    expect(await sumOf(one)).toEqual({ passed: 1, blocked: 2, instances: 1, redis: "up" });
    const replacement = await server();
    await scan(replacement, "a cat");
    await vi.waitFor(
      async () => expect(await sumOf(one)).toEqual({ passed: 2, blocked: 2, instances: 2, redis: "up" }),
      WAIT,
    );
    expect(await sumOf(replacement)).toEqual(await sumOf(one));
  });

  // Windows has no signals that a process can handle.
  it.skipIf(process.platform === "win32")(
    "counts a server of several processes once, and keeps the counts after a crash",
    async () => {
      const start = () => startWorkers(redis.url);
      const one = await server();
      const sumIs = (sum: object) => vi.waitFor(async () => expect(await sumOf(one)).toEqual(sum), WAIT);
      const crashing = await start();
      await Promise.all(["a zebra", "a cat", "a zebra", "a cat"].map(crashing.post));
      const sum = { passed: 2, blocked: 2, redis: "up" };
      await sumIs({ ...sum, instances: 2 });
      expect(await redis.client.zcard(INSTANCES)).toBe(3);
      crashing.child.kill("SIGKILL");
      const restarted = await start();
      await restarted.post("a zebra");
      // The server that crashed is counted until it has not reported for a while.
      await sumIs({ ...sum, blocked: 3, instances: 3 });
      const late = Math.floor(Date.now() / 1000) - 20;
      for (const name of await redis.client.zrange(INSTANCES, "0", "-1"))
        await redis.client.zadd(INSTANCES, late, name);
      await sumIs({ ...sum, blocked: 3, instances: 2 });
      restarted.child.kill("SIGTERM");
      await sumIs({ ...sum, blocked: 3, instances: 1 });
    },
  );

  it("shows a server its own counts while Redis does not respond, and all again after it has lost its data", async () => {
    const [one, other] = [await server(traffic(0.5)), await server(traffic(0.5))];
    await scan(one, "a zebra");
    await scan(other, "a cat");
    const all = { passed: 1, blocked: 1, instances: 2, redis: "up" };
    await vi.waitFor(async () => expect(await sumOf(one)).toEqual(all), WAIT);
    await redis.kill();
    expect(await sumOf(one)).toEqual({ blocked: 1, instances: 1, redis: "down" });
    await scan(one, "a zebra");
    expect(await sumOf(one)).toEqual({ blocked: 2, instances: 1, redis: "down" });
    expect((await one.get("/readyz")).json()).toEqual({ status: "ready", redis: "down" });
    await redis.start();
    await vi.waitFor(async () => expect(await sumOf(one)).toEqual({ ...all, blocked: 2 }), WAIT);
    expect(await sumOf(other)).toEqual(await sumOf(one));
    expect((await one.get("/metrics")).body).toMatch(/guard_redis_up\{use="traffic"\} 1/);
  });

  it("counts nothing twice if Redis carries out what has timed out", async () => {
    const one = await server(traffic(0.3));
    await vi.waitFor(async () => expect(await view(one)).toMatchObject({ redis: "up" }), WAIT);
    for (let round = 1; round <= 3; round++) {
      redis.pause();
      await scan(one, "a zebra", "a cat");
      expect(await view(one)).toMatchObject({ redis: "down" });
      redis.resume();
      await vi.waitFor(
        async () => expect(await sumOf(one)).toEqual({ passed: round, blocked: round, instances: 1, redis: "up" }),
        WAIT,
      );
    }
  });

  it("does not make requests wait", async () => {
    const one = await server(traffic(20));
    await vi.waitFor(async () => expect(await view(one)).toMatchObject({ redis: "up" }), WAIT);
    redis.pause();
    onTestFinished(() => redis.resume());
    const start = performance.now();
    for (let turn = 0; turn < 50; turn++) await scan(one, "a cat");
    expect(performance.now() - start).toBeLessThan(10_000);
    redis.resume();
  });

  it("goes on over reloads, with and without Redis", async () => {
    const config = (more: ConfigInput): ConfigInput => ({
      inputScanners: [{ type: "BanSubstrings", params: { substrings: ["zebra"] } }],
      ...more,
    });
    const next = { config: config(traffic()) };
    const logger = { write() {} };
    const { url, reload, close } = await startServer({
      ...{ config: next.config, port: 0, logger },
      reread: async () => next.config,
    });
    onTestFinished(() => close());
    const post = async () => {
      const body = JSON.stringify({ prompt: "a zebra" });
      const sent = () =>
        fetch(`${url}/scan/prompt`, { method: "POST", headers: { "content-type": "application/json" }, body });
      await vi.waitFor(async () => expect((await sent()).status).toBe(200), WAIT);
    };
    const other = await server();
    const own = async () => (await fetch(`${url}/admin/traffic?minutes=15`)).json() as Promise<Record<string, unknown>>;
    const sumIs = (sum: object) => vi.waitFor(async () => expect(await sumOf(other)).toMatchObject(sum), WAIT);
    await post();
    await sumIs({ blocked: 1, instances: 2 });
    await reload();
    await post();
    await sumIs({ blocked: 2, instances: 2 });
    next.config = config({});
    await reload();
    await post();
    expect(await own()).toMatchObject({ instances: 1, profiles: { default: { blocked: 3 } } });
    expect(await own()).not.toHaveProperty("redis");
    await sumIs({ blocked: 2, instances: 1 });
    next.config = config(traffic());
    await reload();
    await sumIs({ blocked: 3, instances: 2 });
  });
});
