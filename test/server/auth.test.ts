import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { assertSafeToListen, createServer } from "../../src/server/index.ts";
import { testServer, wordScanner } from "./fixtures.ts";

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const BEARER = { type: "http_bearer", token: "token-1" };
const HASHED = { type: "http_bearer", token: sha256("token-2") };
const BASIC = { type: "http_basic", username: "anna", password: "pass:word" };
const KEYS = { type: "api_key", keys: ["key-1", sha256("key-2")] };

function serverWith(auth: unknown, config: ConfigInput = {}) {
  return testServer({ input: [wordScanner("x")] }, { ...config, auth });
}

describe("auth", () => {
  it.each([
    ["a bearer token", BEARER, bearer("token-1")],
    ["a bearer token in any case of the scheme", BEARER, { authorization: "bEARER token-1" }],
    ["a hashed token", HASHED, bearer("token-2")],
    ["user and password, with a colon in it", BASIC, basic("anna:pass:word")],
    ["a key", KEYS, { "x-api-key": "key-1" }],
    ["a hashed key", KEYS, { "x-api-key": "key-2" }],
    ["a key in another header", { ...KEYS, header: "Api-Token" }, { "api-token": "key-1" }],
    ["the first of several", [BEARER, BASIC, KEYS], bearer("token-1")],
    ["the second of several", [BEARER, BASIC, KEYS], basic("anna:pass:word")],
    ["the last of several", [BEARER, BASIC, KEYS], { "x-api-key": "key-1" }],
    ["the second token", [BEARER, HASHED], bearer("token-2")],
    ["a good key beside a bad token", [BEARER, KEYS], { ...bearer("nope"), "x-api-key": "key-1" }],
  ])("lets %s in", async (_what, auth, headers) => {
    const { post } = await serverWith(auth);
    expect((await post("/analyze/prompt", { prompt: "x" }, headers)).statusCode).toBe(200);
  });

  it.each([
    ["nothing", BEARER, {}],
    ["an empty header", BEARER, { authorization: "" }],
    ["a wrong token", BEARER, bearer("token-2")],
    ["a longer token", BEARER, bearer("token-11")],
    ["an empty token", BEARER, { authorization: "Bearer " }],
    ["the hash for the token", HASHED, bearer(sha256("token-2"))],
    ["the bare hash for the token", HASHED, bearer(sha256("token-2").slice(7))],
    ["another scheme", BEARER, basic("token-1:")],
    ["the wrong user", BASIC, basic("otto:pass:word")],
    ["the wrong password", BASIC, basic("anna:pass")],
    ["a user alone", BASIC, basic("anna")],
    ["no base64", BASIC, { authorization: "Basic ~~~" }],
    ["a wrong key", KEYS, { "x-api-key": "key-3" }],
    ["an empty key", KEYS, { "x-api-key": "" }],
    ["a key where a token is due", KEYS, bearer("key-1")],
  ])("turns %s away", async (_what, auth, headers) => {
    const { post } = await serverWith(auth);
    const reply = await post("/analyze/prompt", { prompt: "x" }, headers as Record<string, string>);
    expect(reply.statusCode).toBe(401);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    expect(reply.headers["www-authenticate"]).toBeTruthy();
    expect(reply.json()).not.toHaveProperty("is_valid");
  });

  it("challenges by scheme", async () => {
    const { post } = await serverWith([BEARER, HASHED, BASIC, KEYS]);
    const none = await post("/analyze/prompt", { prompt: "x" });
    expect(none.headers["www-authenticate"]).toBe(
      'Bearer realm="guard", Basic realm="guard", charset="UTF-8", ApiKey realm="guard", header="X-API-Key"',
    );
    const wrong = await post("/analyze/prompt", { prompt: "x" }, bearer("nope"));
    expect(wrong.headers["www-authenticate"]).toContain('Bearer realm="guard", error="invalid_token"');
  });

  it("comes before the body is read", async () => {
    const { post } = await serverWith(BEARER);
    expect((await post("/analyze/prompt", "{nope", { "content-type": "application/json" })).statusCode).toBe(401);
  });

  it.each(["/", "/healthz", "/readyz", "/openapi.json", "/docs/"])("leaves GET %s open", async (url) => {
    const { get } = await serverWith(BEARER);
    expect((await get(url)).statusCode).toBe(200);
  });

  it("covers metrics unless they are public", async () => {
    expect((await (await serverWith(BEARER)).get("/metrics")).statusCode).toBe(401);
    expect((await (await serverWith(BEARER, { metrics: { public: true } })).get("/metrics")).statusCode).toBe(200);
  });

  it.each([
    "/analyze/prompt",
    "/analyze/scan",
    "/analyze/output",
    "/analyze/conversation",
    "/scan/prompt",
    "/scan/output",
    "/scan/conversation",
  ])("covers POST %s", async (url) => {
    const { post } = await serverWith(BEARER);
    expect((await post(url, {})).statusCode).toBe(401);
  });
});

describe("createServer without a credential", () => {
  it("listens on loopback only", async () => {
    const config = { app: { logLevel: "silent" }, inputScanners: [{ type: "InvisibleText" }] };
    const app = await createServer(config);
    await expect(app.listen({ host: "0.0.0.0", port: 0 })).rejects.toThrow(/^auth: listening on 0.0.0.0/);
    expect(await app.listen({ port: 0 })).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
    await app.close();
    const safe = await createServer({ ...config, auth: { type: "http_bearer", token: "secret" } });
    expect(await safe.listen({ host: "0.0.0.0", port: 0 })).toMatch(/^http:/);
    await safe.close();
  });
});

describe("assertSafeToListen", () => {
  const auth = [{ type: "http_bearer" as const, token: "x" }];

  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("serves %s without a credential", (host) => {
    expect(() => assertSafeToListen({ auth: undefined }, host)).not.toThrow();
  });

  it.each(["0.0.0.0", "::", "192.168.1.1", "example.org", "", "127.example.org", "::ffff:1.2.3.4"])(
    "does not serve %j",
    (host) => {
      expect(() => assertSafeToListen({ auth: undefined }, host)).toThrow(/^auth: listening on/);
      expect(() => assertSafeToListen({ auth }, host)).not.toThrow();
    },
  );
});

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
    const { post } = await limited("credential", [BEARER, HASHED]);
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

  it("is off by default", async () => {
    const { post } = await serverWith(undefined);
    expect((await post("/scan/prompt", { prompt: "x" })).headers).not.toHaveProperty("ratelimit-limit");
  });
});
