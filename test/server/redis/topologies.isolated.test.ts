import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { type TestServer, testServer } from "../fixtures.ts";
import { ClusterGroup, SentinelGroup } from "./redis-processes.ts";
import { skipsRedis } from "./redis-server.ts";

const SCANNERS: ConfigInput = {
  inputScanners: [{ type: "BanSubstrings", params: { substrings: ["zebra"] } }],
  metrics: { public: true },
};
/** A failover takes about a second; the machine of the tests may be busy. */
const PATIENCE = { timeout: 20_000, interval: 50 };

type Redis = NonNullable<NonNullable<ConfigInput["cache"]>["redis"]>;
const server = (redis: Redis) =>
  testServer(
    {},
    {
      ...SCANNERS,
      app: { trustProxy: ["127.0.0.1"] },
      cache: { enabled: true, redis },
      rateLimit: { enabled: true, limit: "1000/day;900/hour", redis },
    },
  );
/** Sends a request of a caller, and returns how many more the caller may send; undefined if the request was not counted. */
const call = async ({ post }: TestServer, caller = "10.0.0.1", prompt = "x") => {
  const headers = { "x-forwarded-for": caller };
  const response = await post("/scan/prompt", { prompt }, headers);
  expect(response.statusCode).toBe(200);
  const remaining = response.headers["ratelimit-remaining"];
  return remaining === undefined ? undefined : Number(remaining);
};
const redisState = async ({ get }: TestServer) => (await get("/readyz")).json();
const upMetrics = async ({ get }: TestServer) =>
  [...(await get("/metrics")).body.matchAll(/^guard_redis_up\{use="(\w+)"\} (\d)$/gm)].map(([, use, up]) => [use, up]);
const lines = ({ log }: TestServer, text: string) => log.filter((line) => line.includes(text));

describe.skipIf(skipsRedis)("Redis of several processes", () => {
  beforeEach(() => vi.stubEnv("GUARD_CACHE_KEY", randomBytes(32).toString("base64")));
  afterEach(() => void vi.unstubAllEnvs());

  describe("with Sentinel", () => {
    const group = new SentinelGroup();
    beforeAll(() => group.start(), 60_000);
    afterAll(() => group.close());
    beforeEach(() => {
      // The client reads it for each connection. NODE_EXTRA_CA_CERTS would be read at the start of the process only.
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    });
    const settings = (more: object = {}) => ({
      sentinel: {
        ...{ name: "main", nodes: ["127.0.0.1:1", `127.0.0.1:${group.sentinelPort}`] },
        ...{ password: group.sentinelPassword, tls: true },
        ...more,
      },
      ...{ password: group.password, tls: true, timeout: 5 },
    });

    it("logs why the sentinels do not help", async () => {
      const cases = [
        [{ name: "another" }, "the sentinels do not know the name"],
        [{ password: "wrong" }, "WRONGPASS of a sentinel"],
        [{ nodes: ["127.0.0.1:1"] }, "no sentinel responds"],
      ] as const;
      const check = async ([wrong, reason]: (typeof cases)[number]) => {
        const of = await server({ ...settings(wrong), timeout: 1.5 });
        expect(await call(of)).toBeUndefined();
        expect(lines(of, `"reason":"${reason}"`), reason).toHaveLength(1);
        expect(await redisState(of)).toEqual({ status: "ready", redis: "down" });
      };
      await Promise.all(cases.map(check));
    });

    it("survives a failover", async () => {
      const of = await server(settings());
      expect([await call(of), await call(of)]).toEqual([899, 898]);
      expect(await redisState(of)).toEqual({ status: "ready", redis: "up" });
      expect(await upMetrics(of)).toEqual([
        ["cache", "1"],
        ["rate_limit", "1"],
      ]);
      await vi.waitFor(async () => expect(await group.primary.client.call("WAIT", "1", "100")).toBe(1), PATIENCE);
      await group.primary.kill();
      expect(await call(of)).toBeUndefined();
      expect(await redisState(of)).toEqual({ status: "ready", redis: "down" });
      expect(await upMetrics(of)).toContainEqual(["rate_limit", "0"]);
      // The replica has the counters of the primary, and takes over.
      await vi.waitFor(async () => expect(await call(of)).toBeLessThan(898), PATIENCE);
      expect(await redisState(of)).toEqual({ status: "ready", redis: "up" });
      expect(lines(of, "Redis does not respond").length).toBeGreaterThan(0);
      expect(lines(of, '"redis":"main"').length).toBeGreaterThan(1);
      expect(lines(of, "Redis responds again").length).toBe(lines(of, "Redis does not respond").length);
      expect(of.log.join("")).not.toMatch(/of-the-servers|of-the-sentinels/);
    });
  });

  describe("with Cluster", () => {
    const group = new ClusterGroup();
    beforeAll(() => group.start(), 60_000);
    afterAll(() => group.close());
    const settings = () => ({ cluster: { nodes: group.nodes }, timeout: 5 });
    /** Callers whose counters are on the first and on the second primary. */
    const callers = { first: "", second: "", slot: 0 };

    it("counts callers and shares verdicts on all nodes", async () => {
      const [one, other] = [await server(settings()), await server(settings())];
      const addresses = Array.from({ length: 12 }, (_, index) => `10.0.0.${index}`);
      for (const address of addresses) expect(await call(one, address), address).toBe(899);
      for (const address of addresses) expect(await call(other, address), address).toBe(898);
      const [first, second] = group.primaries;
      for (const address of addresses) {
        const slot = Number(await first.client.cluster("KEYSLOT", `guard:rate:1000/86400000:{${address}}`));
        if (slot < 8192) Object.assign(callers, { first: address, slot });
        else callers.second = address;
      }
      expect(callers.first).not.toBe("");
      expect(callers.second).not.toBe("");

      const messages = Array.from({ length: 12 }, (_, index) => ({ role: "user", content: `Message ${index}.` }));
      const ask = async (of: TestServer) =>
        (await of.post("/analyze/conversation", { messages, details: true })).json().is_valid;
      expect(await ask(one)).toBe(true);
      const verdicts = async () =>
        (await Promise.all(group.primaries.map(({ client }) => client.keys("guard:verdict:*")))).map(
          ({ length }) => length,
        );
      await vi.waitFor(async () => {
        for (const count of await verdicts()) expect(count).toBeGreaterThan(0);
      }, PATIENCE);
      const stored = await verdicts();
      expect(await ask(other)).toBe(true);
      expect(await verdicts()).toEqual(stored);
      const readBy = async (of: TestServer) => /guard_redis_failures_total\{/.test((await of.get("/metrics")).body);
      expect([await readBy(one), await readBy(other)]).toEqual([false, false]);
      expect(await second.client.dbsize()).toBeGreaterThan(0);
    });

    it("sums the traffic of all servers", async () => {
      const traffic = { traffic: { redis: settings() } };
      const [one, other] = [await testServer({}, traffic), await testServer({}, traffic)];
      for (const of of [one, other, other]) await of.post("/scan/prompt", { prompt: "x" });
      await vi.waitFor(async () => {
        const reply = (await one.get("/admin/traffic")).json();
        expect(reply).toMatchObject({ redis: "up", instances: 2, profiles: { default: { passed: 3 } } });
      }, PATIENCE);
      expect(lines(one, "Redis")).toEqual([]);
    });

    it("follows a slot that moves", async () => {
      const of = await server(settings());
      const before = (await call(of, callers.first)) as number;
      const [first, second] = group.primaries;
      await group.moveSlot(callers.slot, first, second, async () => {
        expect(await call(of, callers.first)).toBe(before - 1);
      });
      expect(await call(of, callers.first)).toBe(before - 2);
      await group.moveSlot(callers.slot, second, first, async () => {});
      expect(await call(of, callers.first)).toBe(before - 3);
      expect(lines(of, "Redis")).toEqual([]);
    });

    it("loses the keys of one node only, until its replica takes over", async () => {
      const of = await server(settings());
      const before = (await call(of, callers.first)) as number;
      const [first] = group.primaries;
      await vi.waitFor(async () => expect(await first.client.call("WAIT", "1", "100")).toBe(1), PATIENCE);
      await first.kill();
      expect(await call(of, callers.first)).toBeUndefined();
      expect(await call(of, callers.second)).toBeDefined();
      expect(await redisState(of)).toEqual({ status: "ready", redis: "down" });
      expect(lines(of, `"redis":"127.0.0.1:${first.port}"`)).toHaveLength(1);
      await group.replica.client.cluster("FAILOVER", "TAKEOVER");
      await vi.waitFor(async () => expect(await call(of, callers.first)).toBeLessThan(before), PATIENCE);
      await vi.waitFor(async () => expect(await redisState(of)).toEqual({ status: "ready", redis: "up" }), PATIENCE);
      const ends = [...lines(of, "Redis responds again"), ...lines(of, "another node of the cluster has taken over")];
      expect(ends).toHaveLength(1);
    });
  });
});
