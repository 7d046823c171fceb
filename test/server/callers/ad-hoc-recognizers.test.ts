import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { testServer } from "../fixtures.ts";

const MEMBER = {
  name: "Library cards",
  supported_entity: "LIBRARY_CARD",
  patterns: [{ name: "card", regex: "\\blc-\\d{6}\\b", score: 0.8 }],
};
const CITIES = { name: "Offices", supported_entity: "OFFICE", deny_list: ["Blue Lagoon", "Mt. Ada", "北塔"] };

const SCANNERS: ConfigInput = {
  inputScanners: [{ type: "Anonymize", params: { recognizerConf: [] } }],
  outputScanners: [{ type: "Sensitive", params: { recognizerConf: [], redact: true } }],
};

/** Starts a server that listens, and returns a function that posts to it. */
async function listen(config: ConfigInput = {}) {
  const { app } = await testServer({}, { ...SCANNERS, ...config });
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${address}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    // biome-ignore lint/suspicious/noExplicitAny: the tests name the fields that they read.
    const json = (): any => JSON.parse(text);
    return { status: reply.status, text, json };
  };
  return { app, post };
}

describe("ad_hoc_recognizers", () => {
  it("are used for one request, beside the recognizers of the configuration", async () => {
    const { post } = await listen();
    const prompt = "Card LC-482913 of ann@example.org, at the blue lagoon, near 北塔.";
    const with_ = await post("/analyze/prompt", { prompt, ad_hoc_recognizers: [MEMBER, CITIES], details: true });
    expect(with_.json().sanitized_prompt).toBe(
      "Card [REDACTED_LIBRARY_CARD_1] of [REDACTED_EMAIL_ADDRESS_1], at the [REDACTED_OFFICE_1], near [REDACTED_OFFICE_2].",
    );
    const of = (label: string) =>
      with_.json().findings.Anonymize.filter((finding: { label: string }) => finding.label === label);
    expect(of("LIBRARY_CARD")[0].explanation).toEqual({
      by: "ad_hoc_recognizer",
      id: "Library cards",
      pattern: "card",
    });
    expect(of("OFFICE")[0].explanation).toEqual({ by: "ad_hoc_recognizer", id: "Offices" });
    expect(of("OFFICE")[0].score).toBe(1);
    expect(of("EMAIL_ADDRESS")[0]).not.toHaveProperty("explanation");
    const without = await post("/analyze/prompt", { prompt });
    expect(without.json().sanitized_prompt).toContain("Card LC-482913 of [REDACTED_EMAIL_ADDRESS_1]");
  });

  it("restore their values from the vault", async () => {
    const { post } = await listen({
      outputScanners: [{ type: "Sensitive", params: { recognizerConf: [] } }, { type: "Deanonymize" }],
    });
    const asked = await post("/analyze/prompt", { prompt: "Renew LC-482913.", ad_hoc_recognizers: [MEMBER] });
    const { sanitized_prompt: prompt, vault } = asked.json();
    const output = `Done: ${prompt}`;
    const body = { prompt, output, vault, ad_hoc_recognizers: [MEMBER], details: true };
    const answered = await post("/analyze/output", body);
    expect(answered.json()).toMatchObject({ is_valid: true, sanitized_output: "Done: Renew LC-482913." });
  });

  it("work in conversations, documents, batches, outputs and streams", async () => {
    const { post } = await listen();
    const ad_hoc_recognizers = [MEMBER];
    const valid = async (path: string, body: object) => {
      const reply = await post(path, { ...body, ad_hoc_recognizers });
      expect(reply.status, reply.text).toBe(200);
      return (await post(path, body)).text.includes('"is_valid":true') && reply.text.includes('"is_valid":false');
    };
    const text = "my card is lc-482913";
    expect(await valid("/scan/prompt", { prompt: text })).toBe(true);
    expect(await valid("/scan/conversation", { messages: [{ role: "user", content: text }] })).toBe(true);
    expect(await valid("/scan/documents", { documents: [text], source: "user" })).toBe(true);
    expect(await valid("/scan/prompts", { prompts: [text] })).toBe(true);
    expect(await valid("/scan/output", { prompt: "", output: text })).toBe(true);
    expect(await valid("/scan/outputs", { outputs: [{ output: text }] })).toBe(true);
    expect(await valid("/scan/output/stream", { prompt: "", output: ["my card is lc-4", "82913"] })).toBe(true);
    const redacted = await post("/analyze/output", { prompt: "", output: text, ad_hoc_recognizers });
    expect(redacted.json().sanitized_output).toBe("my card is <LIBRARY_CARD>");
  });

  it("read context words, and ignore case, as in Presidio", async () => {
    const { post } = await listen();
    const weak = { ...MEMBER, patterns: [{ name: "weak", regex: "^lc-\\d{6}$", score: 0.3 }], context: ["library"] };
    const ask = async (prompt: string) =>
      (await post("/scan/prompt", { prompt, ad_hoc_recognizers: [weak], details: true })).json();
    expect((await ask("the ticket is\nLC-482913")).is_valid).toBe(true);
    const near = await ask("the Library card is\nLC-482913");
    expect(near.findings.Anonymize[0]).toMatchObject({
      ...{ label: "LIBRARY_CARD", score: expect.closeTo(0.65), start: 20, end: 29 },
      explanation: { by: "ad_hoc_recognizer", id: "Library cards", pattern: "weak", context: "library" },
    });
  });

  it("apply to the language of the scanner", async () => {
    const params = { recognizerConf: [], language: "de" };
    const { post } = await listen({ inputScanners: [{ type: "Anonymize", params }] });
    const isValid = async (supported_language?: string) =>
      (
        await post("/scan/prompt", { prompt: "lc-482913", ad_hoc_recognizers: [{ ...MEMBER, supported_language }] })
      ).json().is_valid;
    expect([await isValid("de"), await isValid("de-AT"), await isValid("en"), await isValid()]).toEqual([
      ...[false, false, true, false],
    ]);
  });

  it("work together with thresholds, and with the cache", async () => {
    const { post } = await listen({ app: { allowThresholds: true }, cache: { enabled: true } });
    const body = { prompt: "lc-482913", ad_hoc_recognizers: [MEMBER], details: true };
    const ask = async (more: object = {}) => {
      const { is_valid, cache } = (await post("/scan/prompt", { ...body, ...more })).json();
      return [is_valid, cache];
    };
    expect(await ask()).toEqual([false, "miss"]);
    expect(await ask()).toEqual([false, "hit"]);
    expect(await ask({ thresholds: { Anonymize: 0.9 } })).toEqual([true, "miss"]);
    expect(await ask({ ad_hoc_recognizers: [] })).toEqual([true, "miss"]);
    expect(await ask({ ad_hoc_recognizers: [CITIES] })).toEqual([true, "miss"]);
  });

  it("keep conversations apart that are checked with other recognizers", async () => {
    const { post } = await listen();
    const messages = [
      { role: "user", content: "lc-482913" },
      { role: "assistant", content: "ok" },
      { role: "user", content: "thanks" },
    ];
    const scores = async (more: object = {}) =>
      (await post("/scan/conversation", { messages, ...more })).json().scanners;
    const without = await scores();
    expect(await scores({ ad_hoc_recognizers: [MEMBER] })).toBeDefined();
    expect(await scores()).toEqual(without);
  });
});

describe("the right to add recognizers", () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const entry = { type: "http_bearer", token: "main" } as const;

  it("belongs to everybody without auth, to the only credential, and otherwise to those that may", async () => {
    const ask = async (auth: unknown, token = "main") => {
      const { post } = await listen(auth === undefined ? {} : ({ auth } as never));
      const body = { prompt: "lc-482913", ad_hoc_recognizers: [MEMBER] };
      const reply = await post("/scan/prompt", body, bearer(token));
      return [reply.status, reply.json().is_valid ?? reply.json().detail];
    };
    const refused = [403, "This credential may not add recognizers (ad_hoc_recognizers)."];
    expect(await ask(undefined)).toEqual([200, false]);
    expect(await ask(entry)).toEqual([200, false]);
    expect(await ask({ ...entry, mayAddRecognizers: false })).toEqual(refused);
    expect(await ask([entry])).toEqual(refused);
    expect(await ask([{ ...entry, maySuppress: true }])).toEqual(refused);
    const other = { ...entry, token: "other", mayAddRecognizers: true };
    expect(await ask([entry, other])).toEqual(refused);
    expect(await ask([entry, other], "other")).toEqual([200, false]);
    expect(await ask({ type: "api_key", keys: ["one", "main"], header: "x-key" })).toEqual([401, expect.any(String)]);
  });

  it("is needed in streams too", async () => {
    const { post } = await listen({ auth: [entry] as never });
    const body = { prompt: "", output: ["x"], ad_hoc_recognizers: [MEMBER] };
    expect((await post("/scan/output/stream", body, bearer("main"))).status).toBe(403);
  });
});

describe("errors of ad_hoc_recognizers", () => {
  const withPattern = (regex: unknown) => [{ ...MEMBER, patterns: [{ name: "p", regex, score: 0.5 }] }];
  const many = (count: number) => Array.from({ length: count }, (_, index) => index);

  it.each<[string, unknown, string]>([
    ["an unclosed group", withPattern("("), "/0/patterns/0/regex"],
    ["look-behind", withPattern("(?<=no )\\d{4}"), "/0/patterns/0/regex"],
    ["a back-reference", withPattern("(a)\\1"), "/0/patterns/0/regex"],
    ["a large pattern", withPattern("\\w{900}"), "/0/patterns/0/regex"],
    ["a nested repetition", withPattern("(?:[ab]{1,100}c?){100}x"), "/0/patterns/0/regex"],
    ["a long pattern", withPattern("a".repeat(1001)), "/0/patterns/0/regex"],
    ["an empty pattern", withPattern(""), "/0/patterns/0/regex"],
    ["a number", withPattern(5), "/0/patterns/0/regex"],
    [
      "patterns that are large together",
      [{ ...MEMBER, patterns: many(20).map(() => ({ name: "p", regex: "\\w{15}", score: 1 })) }],
      "/0/patterns/",
    ],
    ["a score above 1", [{ ...MEMBER, patterns: [{ name: "p", regex: "a", score: 2 }] }], "/0/patterns/0/score"],
    ["a missing score", [{ ...MEMBER, patterns: [{ name: "p", regex: "a" }] }], "/0/patterns/0/score"],
    ["no patterns", [MEMBER, { name: "x", supported_entity: "X" }], "/1"],
    ["a type with brackets", [{ ...MEMBER, supported_entity: "A]B" }], "/0/supported_entity"],
    ["a missing type", [{ name: "x", deny_list: ["a"] }], "/0/supported_entity"],
    ["an empty text", [{ ...CITIES, deny_list: ["a", ""] }], "/0/deny_list/1"],
    ["a long text", [{ ...CITIES, deny_list: ["a".repeat(201)] }], "/0/deny_list/0"],
    ["a long deny list", [{ ...CITIES, deny_list: many(1001).map(String) }], "/0/deny_list"],
    ["long deny lists together", many(3).map(() => ({ ...CITIES, deny_list: many(900).map(String) })), ""],
    ["too many recognizers", many(21).map(() => MEMBER), ""],
    ["an empty context word", [{ ...MEMBER, context: ["**"] }], ""],
    ["an unknown field", [{ ...MEMBER, regex: "a" }], "/0"],
    ["no list", { name: "x" }, ""],
  ])("name the field of %s", async (_, ad_hoc_recognizers, pointer) => {
    const { post } = await listen();
    const reply = await post("/scan/prompt", { prompt: "hello", ad_hoc_recognizers });
    expect(reply.status).toBe(422);
    const [error] = reply.json().errors;
    expect(error.pointer.startsWith(`/ad_hoc_recognizers${pointer}`), error.pointer).toBe(true);
    expect(error.detail).not.toMatch(/^pattern \d/);
  });

  it("come from profiles without scanners of personal data too", async () => {
    const { post } = await listen({ inputScanners: [{ type: "InvisibleText" }] });
    const reply = await post("/scan/prompt", { prompt: "hello", ad_hoc_recognizers: [MEMBER] });
    expect([reply.status, reply.json().errors]).toEqual([
      422,
      [{ pointer: "/ad_hoc_recognizers", detail: "no scanner looks for personal data in this profile" }],
    ]);
  });
});

describe("harmless texts", () => {
  const TEXTS = [
    "hello",
    "LC",
    "LC-1",
    "lc-48291",
    "lc-4829134",
    "alc-482913",
    "lc_482913",
    "lc 482913",
    "lc–482913",
    "LC‑482913",
    "lc-48 29 13",
    "the ref is LCX-482913",
    "https://example.com/lc482913",
    "a blue and a lagoon",
    "Blue-Lagoon's",
    "bluelagoon",
    "Blue Lagoons",
    "mt ada",
    "Mt.Ada",
    "Adam",
    "北の塔",
    "北京塔",
    "Das blaue Wasser der Lagune glänzt.",
    "La laguna azul está en Islandia.",
    "Le lagon bleu est fermé.",
    "Голубая лагуна закрыта.",
    "青い湖はきれいです。",
    "푸른 호수가 아름답다",
    "البحيرة الزرقاء جميلة",
    "नीली झील सुंदर है",
    "ทะเลสาบสีฟ้า",
    "הלגונה הכחולה",
    "🦊🌊 blue 💙",
    "const lc = 482913;",
    "SELECT lc FROM cards WHERE id = 482913",
    "| lc | 482913 |",
    "- lc\n- 482913",
    "2026-03-01T08:00:00Z lc=482913 level=info",
    "LC: 48-29-13",
    "The LC circuit resonates at 482913 Hz.",
    "LC-MS analysis of 482 samples",
    "page 48, line 2913",
    "call lc(482913)",
    '{"lc": 482913}',
    "<lc>482913</lc>",
    "lc-482,913",
    "lc-482.913",
    "-482913",
    "482913-lc",
    "LC-48A913",
    "Once upon a time, a fox crossed the river.",
    "2 + 2 = 4",
    "C:\\lc\\482913.txt",
    "$ ls lc 482913",
    "0xLC482913",
  ];

  it("pass with recognizers of the request", async () => {
    const { post } = await listen();
    expect(TEXTS.length).toBeGreaterThan(50);
    const body = { prompts: TEXTS, ad_hoc_recognizers: [MEMBER, CITIES], details: true };
    const lines = (await post("/scan/prompts", body)).text.trim().split("\n");
    const failing = lines.map((line) => JSON.parse(line)).filter(({ is_valid }) => is_valid !== true);
    expect(failing.map(({ index, findings }) => [TEXTS[index], findings])).toEqual([]);
  });
});

describe("the audit log", () => {
  it("names the recognizers of a request, and quotes none of their texts", async () => {
    const folder = await mkdtemp(join(tmpdir(), "recognizers-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "audit.jsonl");
    const { app, post } = await listen({ audit: { to: "file", file } } as never);
    const recognizers = [MEMBER, CITIES];
    await post("/scan/prompt", { prompt: "hello", ad_hoc_recognizers: recognizers });
    await post("/scan/output/stream", { prompt: "", output: ["hello"], ad_hoc_recognizers: recognizers });
    await post("/scan/prompt", { prompt: "hello", ad_hoc_recognizers: [MEMBER] });
    await post("/scan/prompt", { prompt: "hello" });
    await app.close();
    const text = await readFile(file, "utf8");
    const added = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).ad_hoc_recognizers);
    const card = { name: "Library cards", entity: "LIBRARY_CARD" };
    expect(added[0]).toEqual({ added: [card, { name: "Offices", entity: "OFFICE" }], hash: expect.any(String) });
    expect(added[1]).toEqual(added[0]);
    expect(added[2].added).toEqual([card]);
    expect(added[2].hash).not.toBe(added[0].hash);
    expect(added[3]).toBeUndefined();
    expect(text).not.toMatch(/Lagoon|\\d\{6\}/);
  });
});
