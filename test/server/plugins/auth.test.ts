import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { standingClock, type TestServer, testServer, wordScanner } from "../fixtures.ts";

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
  ])("accepts %s", async (_what, auth, headers) => {
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
  ])("rejects %s", async (_what, auth, headers) => {
    const { post } = await serverWith(auth);
    const reply = await post("/analyze/prompt", { prompt: "x" }, headers as Record<string, string>);
    expect(reply.statusCode).toBe(401);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    expect(reply.headers["www-authenticate"]).toBeTruthy();
    expect(reply.json()).not.toHaveProperty("is_valid");
  });

  it("sends a challenge for each scheme", async () => {
    const { post } = await serverWith([BEARER, HASHED, BASIC, KEYS]);
    const none = await post("/analyze/prompt", { prompt: "x" });
    expect(none.headers["www-authenticate"]).toBe(
      'Bearer realm="guard", Basic realm="guard", charset="UTF-8", ApiKey realm="guard", header="X-API-Key"',
    );
    const wrong = await post("/analyze/prompt", { prompt: "x" }, bearer("nope"));
    expect(wrong.headers["www-authenticate"]).toContain('Bearer realm="guard", error="invalid_token"');
  });

  it("checks the credential before it reads the body", async () => {
    const { post } = await serverWith(BEARER);
    expect((await post("/analyze/prompt", "{nope", { "content-type": "application/json" })).statusCode).toBe(401);
  });

  it.each(["/", "/healthz", "/readyz", "/openapi.json", "/docs/"])("leaves GET %s public", async (url) => {
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
    "/analyze/documents",
    "/scan/prompt",
    "/scan/output",
    "/scan/conversation",
    "/scan/documents",
  ])("covers POST %s", async (url) => {
    const { post } = await serverWith(BEARER);
    expect((await post(url, {})).statusCode).toBe(401);
  });

  it.each<[string, unknown, string]>([
    [
      "used twice",
      [
        { ...BEARER, name: "a" },
        { ...HASHED, name: "a" },
      ],
      "auth.0.name",
    ],
    ["of another that has none", [HASHED, { ...BEARER, name: "http_bearer" }], "auth.1.name"],
    ["for several keys", { ...KEYS, name: "a" }, "auth.name"],
    ["with a space", { ...BEARER, name: "a b" }, "auth.name"],
  ])("rejects a name %s", async (_what, auth, path) => {
    await expect(serverWith(auth)).rejects.toMatchObject({ path });
  });

  describe("repeated requests without a valid credential", () => {
    const from = (address: string, headers: Record<string, string> = {}) => ({
      "x-forwarded-for": address,
      ...headers,
    });
    const limited = (auth: unknown, rateLimit: ConfigInput["rateLimit"] = {}) =>
      serverWith(auth, { app: { trustProxy: ["loopback"] }, rateLimit: { failures: "3/minute", ...rateLimit } });
    const statusOf = async ({ post }: TestServer, headers: Record<string, string>) =>
      (await post("/scan/prompt", { prompt: "a" }, headers)).statusCode;

    it.each([
      ["no limit of requests", {}],
      ["a limit by credential", { enabled: true, key: "credential" as const }],
      ["a limit by address", { enabled: true, key: "ip" as const }],
    ])("are rejected by address, with %s", async (_what, rateLimit) => {
      const clock = standingClock();
      const server = await limited(BEARER, rateLimit);
      const guesses = [bearer("a"), {}, bearer("b"), bearer("c"), {}];
      const statuses = [];
      for (const guess of guesses) statuses.push(await statusOf(server, from("10.0.0.1", guess)));
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
      // From now on the response does not reveal whether a guess is right.
      const right = await server.post("/scan/prompt", { prompt: "a" }, from("10.0.0.1", bearer("token-1")));
      expect(right.statusCode).toBe(429);
      expect(right.headers).toMatchObject({ "retry-after": "60", "content-type": "application/problem+json" });
      expect(right.headers).not.toHaveProperty("www-authenticate");
      expect(await statusOf(server, from("10.0.0.2", bearer("token-1")))).toBe(200);
      clock.advance(60_000);
      expect(await statusOf(server, from("10.0.0.1", bearer("token-1")))).toBe(200);
    });

    it("do not lock out a credential that was accepted from the address before", async () => {
      const server = await limited([BEARER, KEYS]);
      for (let turn = 0; turn < 9; turn++) {
        expect(await statusOf(server, from("10.0.0.1", bearer("token-1")))).toBe(200);
        expect(await statusOf(server, from("10.0.0.1", bearer("nope")))).toBe(turn < 3 ? 401 : 429);
      }
      expect(await statusOf(server, from("10.0.0.1", { "x-api-key": "key-1" }))).toBe(429);
    });

    it("are counted by network for IPv6, and as IPv4 for IPv4-mapped addresses", async () => {
      const server = await limited(BEARER);
      for (const address of ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:DB8:1:2:0:0:0:3"])
        expect(await statusOf(server, from(address))).toBe(401);
      expect(await statusOf(server, from("2001:db8:1:2::4"))).toBe(429);
      expect(await statusOf(server, from("2001:db8:1:3::1"))).toBe(401);
      for (const address of ["::ffff:10.0.0.9", "10.0.0.9", "::ffff:a00:9"])
        expect(await statusOf(server, from(address))).toBe(401);
      expect(await statusOf(server, from("10.0.0.9"))).toBe(429);
    });

    it("are counted by the proxy's address if it forwards something else", async () => {
      const server = await limited(BEARER);
      for (const status of [401, 401, 401, 429]) {
        const garbage = `${"x".repeat(12_000)}${Math.random()}`;
        expect(await statusOf(server, from(garbage))).toBe(status);
      }
    });

    it("are counted by the address that the last proxy saw, whatever addresses a client claims", async () => {
      const server = await serverWith(BEARER, { app: { trustProxy: 1 }, rateLimit: { failures: "3/minute" } });
      for (const [index, status] of [401, 401, 401, 429].entries()) {
        expect(await statusOf(server, from(`198.51.100.${index}, 10.0.0.1`))).toBe(status);
      }
    });

    it("do not affect public routes", async () => {
      const { get, ...server } = await limited(BEARER);
      for (let turn = 0; turn < 5; turn++) await statusOf({ get, ...server }, from("10.0.0.1"));
      expect((await get("/healthz", from("10.0.0.1"))).statusCode).toBe(200);
    });
  });
});
