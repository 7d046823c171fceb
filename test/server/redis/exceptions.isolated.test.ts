import { describe, expect, it, vi } from "vitest";
import { type TestServer, testServer, wordScanner } from "../fixtures.ts";
import { redisForTests, skipsRedis } from "./redis-server.ts";

const TEXT = "The zebra of our logo.";

describe.skipIf(skipsRedis)("exceptions in Redis", () => {
  const redis = redisForTests("GUARD_EXCEPTIONS_KEY");

  const server = (timeout = 20) =>
    testServer({ input: [wordScanner("zebra")] }, { exceptions: { redis: { url: redis.url, timeout } } });
  const body = { scanners: ["Word"], substring: "zebra of our logo", reason: "our logo", expires: "2999-12-31" };
  const add = ({ post }: TestServer, more: object = {}) => post("/admin/exceptions", { ...body, ...more });
  const isValid = async ({ post }: TestServer) => (await post("/scan/prompt", { prompt: TEXT })).json().is_valid;

  it("are shared, kept over a restart, and encrypted", async () => {
    const [first, second] = [await server(), await server()];
    const { id } = (await add(first)).json();
    expect(await isValid(first)).toBe(true);
    await vi.waitFor(async () => expect(await isValid(second)).toBe(true), 5000);
    const stored = Buffer.concat(Object.values(await redis.client.hgetallBuffer("guard:exceptions")));
    expect(stored.includes("zebra")).toBe(false);
    await first.app.close();
    const restarted = await server();
    expect(await isValid(restarted)).toBe(true);
    await restarted.app.inject({ method: "DELETE", url: `/admin/exceptions/${id}` });
    await vi.waitFor(async () => expect(await isValid(second)).toBe(false), 5000);
  });

  it("cannot be made by somebody who can write to Redis only", async () => {
    const { id } = (await add(await server())).json();
    const sealed = (await redis.client.hgetBuffer("guard:exceptions", id)) as Buffer;
    await redis.client.del("guard:exceptions");
    await redis.client.hset("guard:exceptions", "other", sealed, "plain", JSON.stringify({ ...body, id: "plain" }));
    const second = await server();
    expect(await isValid(second)).toBe(false);
    await redis.client.hset("guard:exceptions", id, sealed);
    await vi.waitFor(async () => expect(await isValid(second)).toBe(true), 5000);
  });

  it("stay in effect during an outage, and are not changed", async () => {
    const one = await server(0.5);
    await vi.waitFor(async () => expect((await add(one)).statusCode).toBe(201), 10_000);
    redis.pause();
    expect((await add(one, { substring: "another zebra" })).statusCode).toBe(503);
    expect(await isValid(one)).toBe(true);
    redis.resume();
    await vi.waitFor(async () => expect((await add(one, { substring: "another zebra" })).statusCode).toBe(201), 10_000);
    expect((await one.get("/admin/exceptions")).json()).toMatchObject({ kept: "redis", exceptions: [{}, {}] });
  });
});
