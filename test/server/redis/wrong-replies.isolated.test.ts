import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { testServer } from "../fixtures.ts";

/** Starts a server that speaks Redis's protocol and replies to scripts and look-ups with the same bytes. */
async function redisThatReplies(reply: string): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      for (const [, name = ""] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const isInfo = name.toLowerCase() === "info";
        const isUse = /^(?:evalsha|eval|mget|hgetall)$/i.test(name);
        socket.write(isUse ? reply : isInfo ? "$14\r\nredis_mode:one\r\n" : "+OK\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `redis://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe("replies of Redis of another type", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ["a text", "+OK\r\n"],
    ["a number", ":7\r\n"],
    ["nothing", "$-1\r\n"],
    ["a list of texts", "*3\r\n$1\r\n1\r\n$1\r\nx\r\n$1\r\n1\r\n"],
    ["a shorter list", "*1\r\n:1\r\n"],
    ["a nested list", "*3\r\n*1\r\n:1\r\n:2\r\n:1\r\n"],
    ["negative numbers", "*3\r\n:-1\r\n:-5\r\n:1\r\n"],
  ])("count as a failure of Redis, not of the request: %s", async (_what, reply) => {
    vi.stubEnv("GUARD_CACHE_KEY", Buffer.alloc(32, 7).toString("base64"));
    const redis = { url: await redisThatReplies(reply), timeout: 20 };
    for (const [onRedisError, status] of [
      ["allow", 200],
      ["deny", 503],
    ] as const) {
      const { post, log } = await testServer(
        {},
        {
          inputScanners: [{ type: "InvisibleText" }],
          cache: { enabled: true, redis },
          rateLimit: { enabled: true, limit: "100/minute", redis, onRedisError },
        },
      );
      for (let turn = 0; turn < 3; turn++) {
        const { statusCode, headers } = await post("/scan/prompt", { prompt: "Hello." });
        expect(statusCode).toBe(status);
        expect(headers["retry-after"] ?? "1").toBe("1");
      }
      expect(log.filter((line) => /"use":"rate_limit","reason":"unexpected_reply"/.test(line))).toHaveLength(1);
      expect(log.join("")).not.toContain("request failed");
    }
  });

  it.each([
    ["a text", "+OK\r\n"],
    ["a number", ":1\r\n"],
    ["nothing", "$-1\r\n"],
    ["a list", "*2\r\n$1\r\na\r\n$1\r\nx\r\n"],
  ])("leave a server with its own counts of traffic: %s", async (_what, reply) => {
    const redis = { url: await redisThatReplies(reply), timeout: 20 };
    const { post, get, log } = await testServer({}, { traffic: { redis } });
    await post("/scan/prompt", { prompt: "Hello." });
    const shown = await get("/admin/traffic");
    expect(shown.statusCode).toBe(200);
    expect(shown.json()).toMatchObject({ redis: "down", instances: 1, profiles: { default: { passed: 1 } } });
    expect(log.filter((line) => /"use":"traffic","reason":"unexpected_reply"/.test(line))).toHaveLength(1);
  });
});
