import { describe, expect, it } from "vitest";
import { testServer } from "../fixtures.ts";

const auth = [
  {
    type: "http_bearer",
    name: "ops",
    token: "ops-CANARY",
    may_administer: true,
    may_suppress: true,
    may_choose: ["strict"],
  },
  { type: "api_key", name: "shop", header: "X-Key", keys: ["key-CANARY"], profile: "strict" },
];
const config = {
  auth,
  app: { allowThresholds: true },
  allow: [{ id: "joke", scanners: ["Words"], substring: "zebra-CANARY", reason: "A joke.", expires: "2020-01-31" }],
  rateLimit: { enabled: true, redis: "" },
  inputScanners: [
    { type: "Language", params: { validLanguages: ["en"], threshold: 0.65 } },
    { type: "BanSubstrings", name: "Words", mode: { tool: "monitor" as const }, params: { substrings: ["zebra"] } },
  ],
  outputScanners: [{ type: "Relevance", params: { threshold: 0.4 } }],
  conversation: { scan: { tool: ["Words"] } },
  profiles: {
    strict: { inputScanners: [], conversation: { scan: {} } },
    other: { inputScanners: [], conversation: { scan: {} } },
  },
};
const ops = { authorization: "Bearer ops-CANARY" };

describe("GET /profiles", () => {
  it("returns the rights of a credential, and the scanners of the profiles that it may use", async () => {
    const { get } = await testServer({}, config);
    const { profiles, ...rights } = (await get("/profiles", ops)).json();
    expect(rights).toEqual({
      ...{ credential: "ops", may_suppress: true, may_add_recognizers: false },
      ...{ may_add_exceptions: false, may_review: false, may_administer: true },
    });
    expect(profiles.map(({ name }: { name: string }) => name)).toEqual(["default", "strict"]);
    const [{ scanners, ...main }] = profiles;
    expect(main).toEqual({ name: "default", is_default: true, may_set_thresholds: true });
    expect(scanners.input).toMatchObject([
      { name: "Language", type: "Language", rewrites: false, threshold: 0.65 },
      { name: "Words", type: "BanSubstrings", models: [], sources: ["user", "tool"], monitors: ["tool"] },
    ]);
    expect(scanners.output).toMatchObject([{ name: "Relevance", minimum: 0.4, sources: ["output"] }]);
    const shop = (await get("/profiles", { "x-key": "key-CANARY" })).json();
    expect(shop.profiles).toMatchObject([{ name: "strict", is_default: true }]);
    expect((await get("/profiles")).statusCode).toBe(401);
  });
});

describe("GET /admin/config", () => {
  it("shows what runs, and from where, without secrets", async () => {
    const redis = "redis://user:pass-CANARY@127.0.0.1:1/0?password=query-CANARY";
    const { get } = await testServer(
      {},
      { ...config, cache: { enabled: false, redis }, app: { ...config.app, selfTestInterval: 0 } },
    );
    const reply = await get("/admin/config", ops);
    expect(reply.statusCode).toBe(200);
    expect(reply.body).not.toContain("CANARY");
    const { settings, credentials, exceptions, profiles, models, warnings, ...rest } = reply.json();
    expect(rest).toMatchObject({ file: null, processes: 1, hash: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(settings).toContainEqual({ name: "app.allow_thresholds", value: "true" });
    expect(settings).toContainEqual({ name: "cache.redis.url", value: '"redis://127.0.0.1:1/0"' });
    expect(credentials).toEqual([
      { name: "ops", type: "http_bearer", profile: "default", may: ["administer", "suppress", "choose"] },
      { name: "shop", type: "api_key", profile: "strict", may: [] },
    ]);
    expect(exceptions).toEqual([
      {
        ...{ id: "joke", scanners: ["Words"], reason: "A joke.", expires: "2020-01-31" },
        ...{ origin: "configuration", is_expired: true },
      },
    ]);
    expect(profiles.map(({ name }: { name: string }) => name)).toEqual(["default", "strict", "other"]);
    expect(models).toContainEqual(expect.objectContaining({ here: true, size: expect.any(Number) }));
    expect(warnings).toContainEqual(expect.stringMatching(/^app\.self_test_interval: /));
  });
});
