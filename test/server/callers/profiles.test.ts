import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/index.ts";
import { testServer } from "../fixtures.ts";

const words = (...substrings: string[]) => ({ type: "BanSubstrings", params: { substrings } });

const CONFIG = {
  inputScanners: [words("red")],
  profiles: {
    strict: { inputScanners: [words("red", "green")], app: { onScannerError: "block" as const } },
    lax: { inputScanners: [words("purple")], outputScanners: [words("purple")] },
  },
};
const AUTH = [
  { type: "http_bearer", token: "main" },
  { type: "http_bearer", token: "strict", profile: "strict" },
  { type: "http_bearer", token: "chooser", may_choose: ["strict"], maySuppress: true },
];

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("profiles", () => {
  it("are selected by the header or the body without authentication", async () => {
    const { post } = await testServer({}, CONFIG);
    const valid = async (body: object, headers: Record<string, string> = {}) =>
      (await post("/scan/prompt", { prompt: "green", ...body }, headers)).json().is_valid;
    expect(await valid({})).toBe(true);
    expect(await valid({}, { "x-guard-profile": "strict" })).toBe(false);
    expect(await valid({ profile: "strict" })).toBe(false);
    expect(await valid({ profile: "default" })).toBe(true);
    expect(await valid({ profile: "lax" })).toBe(true);
  });

  it("use their own scanner lists, or else the lists of the configuration", async () => {
    const { post } = await testServer({}, CONFIG);
    const scanners = async (profile: string) =>
      (await post("/scan/output", { prompt: "", output: "purple", profile })).json().scanners;
    expect(await scanners("lax")).toEqual({ BanSubstrings: 1 });
    expect(await scanners("strict")).toEqual({});
  });

  it("let the only credential suppress scanners, as in llm-guard, and those of a list if they may", async () => {
    const entry = { type: "http_bearer", token: "main" } as const;
    const suppress = async (auth: unknown, token = "main") => {
      const { post } = await testServer({}, { ...CONFIG, auth } as never);
      const reply = await post("/scan/prompt", { prompt: "red", scanners_suppress: ["BanSubstrings"] }, bearer(token));
      return [reply.statusCode, reply.json().is_valid];
    };
    expect(await suppress(entry)).toEqual([200, true]);
    expect((await suppress({ ...entry, maySuppress: false }))[0]).toBe(403);
    expect((await suppress([entry]))[0]).toBe(403);
    expect((await suppress([entry, { ...entry, token: "other" }]))[0]).toBe(403);
    expect(await suppress([entry, { ...entry, token: "other", maySuppress: true }], "other")).toEqual([200, true]);
  });

  it("inherit the masking of scanners that they have", async () => {
    const config = {
      inputScanners: [{ type: "BanSubstrings", params: { substrings: ["red"], redact: true, redactAll: true } }],
      profiles: { plain: { inputScanners: [{ type: "InvisibleText" }], outputScanners: [] } },
      app: { masking: ["BanSubstrings"] },
    };
    const { post } = await testServer({}, config);
    const reply = await post("/analyze/prompt", { prompt: "a red fox", details: true });
    expect(reply.json().outcome).toBe("masked");
    expect((await post("/scan/prompt", { prompt: "x", profile: "plain" })).statusCode).toBe(200);
  });

  it("name themselves and the line in errors about masking", () => {
    const text = [
      "app: { masking: [Secrets] }",
      "input_scanners: [{ type: Secrets }]",
      "profiles:",
      "  plain:",
      "    input_scanners: [{ type: InvisibleText }]",
      "    app: { masking: [Anonymise] }",
    ];
    const message = /^profiles\.plain\.app\.masking\.0: there is no scanner Anonymise \(.*:6\)$/;
    expect(() => parseConfig(text.join("\n"))).toThrow(message);
    expect(() => parseConfig([...text.slice(0, 5), "    app: {}"].join("\n"))).not.toThrow();
    const unknown = "app: { masking: [Nothing] }\ninput_scanners: [{ type: InvisibleText }]";
    expect(() => parseConfig(unknown)).toThrow(/^app\.masking\.0: there is no scanner Nothing \(.*:1\)$/);
  });

  it("are limited to those of the credential", async () => {
    const { post } = await testServer({}, { ...CONFIG, auth: AUTH });
    const ask = (token: string, headers: Record<string, string> = {}, body: object = {}) =>
      post("/scan/prompt", { prompt: "green", ...body }, { ...bearer(token), ...headers });
    expect((await ask("main")).json().is_valid).toBe(true);
    expect((await ask("strict")).json().is_valid).toBe(false);
    expect((await ask("chooser")).json().is_valid).toBe(true);
    expect((await ask("chooser", { "x-guard-profile": "strict" })).json().is_valid).toBe(false);
    for (const reply of [
      await ask("main", { "x-guard-profile": "strict" }),
      await ask("main", {}, { profile: "strict" }),
      await ask("strict", { "x-guard-profile": "lax" }),
      await ask("strict", { "x-guard-profile": "default" }),
      await ask("chooser", {}, { profile: "nowhere" }),
    ]) {
      expect(reply.statusCode).toBe(403);
      expect(reply.json().detail).toBe("This credential may not use that profile.");
    }
  });

  it("are rejected if unknown, or if header and body disagree", async () => {
    const { post } = await testServer({}, CONFIG);
    const unknown = await post("/scan/prompt", { prompt: "x", profile: "nowhere" });
    expect([unknown.statusCode, unknown.json().errors]).toEqual([
      422,
      [{ pointer: "/profile", detail: "there is no such profile" }],
    ]);
    const both = await post("/scan/prompt", { prompt: "x", profile: "lax" }, { "x-guard-profile": "strict" });
    expect([both.statusCode, both.json().errors[0].pointer]).toEqual([422, "/profile"]);
  });

  it("apply to conversations, documents, streams and dialects", async () => {
    const { post } = await testServer({}, { ...CONFIG, dialects: ["lakera"] });
    const headers = { "x-guard-profile": "strict" };
    const messages = [{ role: "user", content: "green" }];
    expect((await post("/scan/conversation", { messages }, headers)).json().is_valid).toBe(false);
    expect((await post("/scan/documents", { documents: ["green"], source: "user" }, headers)).json().is_valid).toBe(
      false,
    );
    expect((await post("/v2/guard", { messages }, headers)).json().flagged).toBe(true);
    expect((await post("/v2/guard", { messages })).json().flagged).toBe(false);
    const stream = { prompt: "", output: ["a purple hat"] };
    expect((await post("/scan/output/stream", stream, { "x-guard-profile": "lax" })).body).toContain("blocked");
    expect((await post("/scan/output/stream", { ...stream, profile: "lax" })).body).toContain("blocked");
    expect((await post("/scan/output/stream", stream)).body).not.toContain("blocked");
  });

  it("do not share cached results", async () => {
    const { post } = await testServer({}, { ...CONFIG, cache: { enabled: true } });
    const ask = async (profile: string) => {
      const { is_valid, cache } = (await post("/scan/prompt", { prompt: "green", profile, details: true })).json();
      return [is_valid, cache];
    };
    expect(await ask("default")).toEqual([true, "miss"]);
    expect(await ask("strict")).toEqual([false, "miss"]);
    expect(await ask("strict")).toEqual([false, "hit"]);
    expect(await ask("default")).toEqual([true, "hit"]);
  });
});

describe("scanners_suppress", () => {
  it("requires a permission of the credential, or a server without authentication", async () => {
    const body = { prompt: "red", scanners_suppress: ["BanSubstrings"] };
    const open = await testServer({}, CONFIG);
    expect((await open.post("/scan/prompt", body)).json().is_valid).toBe(true);
    const { post, log } = await testServer({}, { ...CONFIG, auth: AUTH });
    expect((await post("/scan/prompt", body, bearer("chooser"))).json().is_valid).toBe(true);
    const refused = await post("/scan/prompt", body, bearer("main"));
    expect([refused.statusCode, refused.json().detail]).toEqual([
      403,
      "This credential may not suppress scanners (scanners_suppress).",
    ]);
    expect((await post("/scan/prompt", { prompt: "x", scanners_suppress: [] }, bearer("main"))).statusCode).toBe(200);
    expect(log.join("")).not.toContain("no credential may suppress scanners");
    const none = await testServer({}, { ...CONFIG, auth: AUTH.slice(0, 2) });
    expect(none.log.join("")).toContain("no credential may suppress scanners");
  });
});

describe("thresholds", () => {
  const config = {
    app: { lazyLoad: true },
    inputScanners: [{ type: "Gibberish", params: { threshold: 0.97 } }, words("red")],
    profiles: { tuned: { app: { allowThresholds: true } } },
  };
  const prompt = "Can you tell me more about the weather in Lisbon in May, and what to pack?";

  it("of a request override those of the profile, if the profile allows it", async () => {
    const { post } = await testServer({}, config);
    const ask = (body: object) => post("/scan/prompt", { prompt, details: true, ...body });
    const own = (await ask({ profile: "tuned" })).json();
    expect(own.is_valid).toBe(true);
    const { Gibberish: probability } = own.probabilities;
    const lower = (await ask({ profile: "tuned", thresholds: { Gibberish: probability / 2 } })).json();
    expect(lower).toMatchObject({ is_valid: false, probabilities: { Gibberish: probability } });
    expect((await ask({ profile: "tuned" })).json().is_valid).toBe(true);
    const conversation = { messages: [{ role: "user", content: prompt }], profile: "tuned" };
    const thresholds = { Gibberish: probability / 2 };
    expect((await post("/scan/conversation", { ...conversation, thresholds })).json().is_valid).toBe(false);
    expect((await post("/scan/conversation", conversation)).json().is_valid).toBe(true);
    const documents = { documents: [prompt], source: "user", profile: "tuned" };
    expect((await post("/scan/documents", { ...documents, thresholds })).json().is_valid).toBe(false);
    expect((await post("/scan/documents", documents)).json().is_valid).toBe(true);

    const refused = await ask({ thresholds });
    expect([refused.statusCode, refused.json().detail]).toEqual([
      403,
      "Requests may not set thresholds in this profile (thresholds).",
    ]);
  });

  it.each([
    [{ Gibberish: 2 }, "/thresholds/Gibberish"],
    [{ Giberish: 0.5 }, "/thresholds/Giberish"],
    [{ BanSubstrings: 0.5 }, "/thresholds/BanSubstrings"],
  ])("like %j are rejected with their path", async (thresholds, pointer) => {
    const { post } = await testServer({}, config);
    const reply = await post("/scan/prompt", { prompt, profile: "tuned", thresholds });
    expect(reply.statusCode).toBe(422);
    expect(reply.json().errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
  });
});

describe("profiles in a file", () => {
  const parse = (text: string, env = {}) => parseConfig(text, { env });

  it("are read with the environment, in snake_case", () => {
    const { profiles } = parse(
      "input_scanners: [{type: Regex, params: {patterns: [a]}}]\n" +
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the file
        "profiles:\n  strict:\n    input_scanners:\n      - type: Toxicity\n        params: {threshold: '${LIMIT}'}\n" +
        "    app: {scan_fail_fast: true}\n  empty:\n    output_scanners:\n      - type: Regex\n        params: {patterns: [b]}\n",
      { LIMIT: "0.3" },
    );
    expect(profiles.strict).toEqual({
      inputScanners: [{ type: "Toxicity", params: { threshold: 0.3 } }],
      app: { scanFailFast: true },
    });
  });

  it.each([
    ["profiles: {Strict: {}}", "profiles"],
    ["profiles: {default: {}}", "profiles"],
    ["profiles: {strict: {input_scaners: []}}", "profiles.strict.input_scaners"],
    ["profiles: {strict: {input_scanners: [{type: Toxicty}]}}", "profiles.strict.input_scanners.0.type"],
    [
      "profiles: {strict: {input_scanners: [{type: Toxicity, params: {threshold: 7}}]}}",
      "profiles.strict.input_scanners.0.params.threshold",
    ],
    ["profiles: {strict: {app: {port: 1}}}", "profiles.strict.app.port"],
    ["profiles: {strict: {input_scanners: []}}", "profiles.strict.input_scanners"],
    ["auth: {type: http_bearer, token: t, profile: nowhere}", "auth.0.profile"],
    ["auth: [{type: http_bearer, token: t, may_choose: [nowhere]}]", "auth.0.may_choose.0"],
  ])("are rejected with their path: %s", (text, path) => {
    const file = `input_scanners: [{type: Regex, params: {patterns: [a]}}]\n${text}\n`;
    expect(() => parse(file)).toThrow(expect.objectContaining({ issues: [expect.objectContaining({ path })] }));
  });
});
