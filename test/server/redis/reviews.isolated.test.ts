import { describe, expect, it, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { reviewingScanner, type TestServer, testServer } from "../fixtures.ts";
import { redisForTests, skipsRedis } from "./redis-server.ts";

const TEXT = "Start again with the second recipe, p=0.7";

describe.skipIf(skipsRedis)("reviews in Redis", () => {
  const redis = redisForTests("GUARD_EXCEPTIONS_KEY");

  const server = (app: ConfigInput["app"] = {}, timeout = 20) => {
    const settings = { redis: { url: redis.url, timeout } };
    return testServer({ input: [reviewingScanner()] }, { app, reviews: settings, exceptions: settings });
  };
  const scan = async ({ post }: TestServer, prompt = TEXT) =>
    (await post("/scan/prompt", { prompt, details: true })).json();
  const list = async ({ get }: TestServer) => (await get("/reviews")).json();
  const decide = ({ post }: TestServer, id: string, decision: string) =>
    post(`/reviews/${id}`, { decision, reason: "about a recipe" });

  it("are shared, kept over a restart, and encrypted", async () => {
    const [first, second] = [await server(), await server()];
    const { id } = (await scan(first)).reviews[0];
    expect((await scan(second)).reviews[0].id).toBe(id);
    const stored = Buffer.concat(Object.values(await redis.client.hgetallBuffer("guard:{reviews}")));
    expect(stored.includes("recipe")).toBe(false);
    await first.app.close();
    const restarted = await server();
    expect(await list(restarted)).toMatchObject({ kept: "redis", pending: 1, reviews: [{ id, text: TEXT }] });
    expect((await restarted.get("/metrics")).body).toContain("guard_reviews_pending 1");
    await decide(restarted, id, "reject");
    expect(await scan(second)).toMatchObject({ outcome: "blocked", reviews: [{ id, state: "rejected" }] });
    await restarted.app.close();
    const again = await server();
    expect(await scan(again)).toMatchObject({ outcome: "blocked" });
    await decide(again, id, "approve");
    await vi.waitFor(async () => expect(await scan(second)).toMatchObject({ outcome: "passed" }), 5000);
    expect(await list(second)).toMatchObject({ pending: 0, reviews: [] });
    expect(again.log.join("")).not.toContain("kept in memory only");
  });

  it("cannot be decided by somebody who can write to Redis only", async () => {
    const one = await server();
    const { id } = (await scan(one)).reviews[0];
    const sealed = (await redis.client.hgetBuffer("guard:{reviews}", id)) as Buffer;
    const { id: other } = (await scan(one, "Another one, p=0.7")).reviews[0];
    await redis.client.hset("guard:{reviews}", other, sealed, id, JSON.stringify({ id, rejection: {} }));
    expect((await list(one)).reviews).toEqual([]);
    expect(await scan(one)).toMatchObject({ outcome: "review", reviews: [{ id, state: "pending" }] });
  });

  it("drop the oldest of more than 1,000", async () => {
    const one = await server();
    const { id } = (await scan(one)).reviews[0];
    const later = Date.now() + 90_000_000;
    const members = Array.from({ length: 1000 }, (_, index) => [later, `rv-${index}`]).flat();
    await redis.client.zadd("guard:{reviews}:pending", ...members);
    await scan(one, "Another one, p=0.7");
    expect(await redis.client.zcard("guard:{reviews}:pending")).toBe(1000);
    expect(await redis.client.hexists("guard:{reviews}", id)).toBe(0);
  });

  it("hold texts during an outage, also with app.review: pass, and accept no decision", async () => {
    const one = await server({ review: "pass" }, 0.5);
    const { id } = await vi.waitFor(async () => (await scan(one)).reviews[0], 10_000);
    redis.pause();
    expect(await scan(one)).toMatchObject({ is_valid: false, outcome: "review" });
    expect((await decide(one, id, "approve")).statusCode).toBe(503);
    redis.resume();
    await vi.waitFor(async () => expect(await scan(one)).toMatchObject({ is_valid: true, outcome: "review" }), 10_000);
  });
});
