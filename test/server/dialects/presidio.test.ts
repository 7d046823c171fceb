import { createDecipheriv, createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { Anonymize } from "../../../src/scanners/generated/input-scanners.ts";
import { scannerOf, type TestServer, testServer, wordScanner } from "../fixtures.ts";

const CONFIG: ConfigInput = {
  dialects: ["presidio"],
  app: { lazyLoad: true },
  inputScanners: [{ type: "Anonymize", params: { recognizerConf: [] } }],
};

interface Result {
  entity_type: string;
  start: number;
  end: number;
  score: number;
  analysis_explanation: Record<string, unknown> | null;
  recognition_metadata: { recognizer_name: string };
}

async function analyze(server: TestServer, body: object): Promise<Result[]> {
  const reply = await server.post("/analyze", { language: "en", ...body });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

const found = (results: readonly Result[]) => results.map(({ entity_type, start, end }) => [entity_type, start, end]);

/** Texts of many kinds without personal data. */
const HARMLESS = [
  "The parcel weighs 3.5 kg and costs 12.90 EUR.",
  "Der Zug nach oben fährt um 7 ab 🚆.",
  "今天天气很好，我们去公园吧。",
  "明日は会議があります。",
  "오늘은 날씨가 좋네요.",
  "Сегодня хорошая погода.",
  "اليوم الجو جميل.",
  "היום יפה בחוץ.",
  "आज मौसम अच्छा है।",
  "วันนี้อากาศดี",
  "const total = items.reduce((sum, { price }) => sum + price, 0);",
  "SELECT id, name FROM orders WHERE total > 100 ORDER BY id;",
  "def add(a, b):\n    return a + b",
  "2 apples\n3 pears\n1 melon",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  '{"width": 1024, "height": 768}',
  "INFO worker 3 finished in 120 ms",
  "ISBN 978-3-16-148410-0",
  "x^2 + y^2 = z^2",
  "C6H12O6 + 6 O2 -> 6 CO2 + 6 H2O",
  "1. e4 e5 2. Nf3 Nc6",
  "npm install --save-dev typescript@5.9.2",
  "v1.2.3-beta.4",
  "Once upon a time a fox found a well.",
  "🙂🙃😉",
  "#hashtag and @media (max-width: 600px)",
  "C:\\temp\\report.txt",
  "/usr/local/bin/node",
  "a + b = b + a",
  "∀x ∈ ℝ: x² ≥ 0",
  "To be or not to be",
  "Les chats dorment.",
  "El gato duerme.",
  "O gato dorme.",
  "Kot śpi.",
  "De kat slaapt.",
  "Katten sover.",
  "Kissa nukkuu.",
  "Kedi uyuyor.",
  "Con mèo đang ngủ.",
  "Kucing sedang tidur.",
  "Η γάτα κοιμάται.",
  "Pisica doarme.",
  "A macska alszik.",
  "Kočka spí.",
  "Mix 200 g flour with 3 eggs.",
  "Turn left after 300 m.",
  "The score was 3:1.",
  "Chapter 12, verse 4",
  "rgb(12, 34, 56) and #a1b2c3",
  "grep -rn TODO src | wc -l",
  "Room 101 is on floor 1.",
];

describe("Presidio's analyzer", () => {
  it("returns personal data in code points", async () => {
    const server = await testServer({}, CONFIG);
    expect(await analyze(server, { text: "😀 I am ann@example.org." })).toEqual([
      {
        ...{ entity_type: "EMAIL_ADDRESS", start: 7, end: 22, score: expect.any(Number), analysis_explanation: null },
        recognition_metadata: {
          recognizer_name: expect.any(String),
          recognizer_identifier: expect.stringMatching(/^recognizer:/),
        },
      },
    ]);
  });

  it("returns a list for each of several texts, and nothing for harmless ones", async () => {
    const server = await testServer({}, CONFIG);
    const reply = await server.post("/analyze", { text: [...HARMLESS, "Mail bob@example.org 🙂"], language: "en" });
    const lists = reply.json() as Result[][];
    const wrong = lists.slice(0, -1).flatMap((results, index) => (results.length > 0 ? [HARMLESS[index]] : []));
    expect(wrong).toEqual([]);
    expect(found(lists.at(-1) ?? [])).toEqual([["EMAIL_ADDRESS", 5, 20]]);
    expect((await server.post("/analyze", { text: ["", "a"], language: "en" })).json()).toEqual([[], []]);
  });

  it("reports requested entities above the requested score, without allowed values", async () => {
    const server = await testServer({}, CONFIG);
    const text = "Ann: ann@example.org, 4111 1111 1111 1111, 192.0.2.7";
    const types = async (more: object) =>
      (await analyze(server, { text, ...more })).map(({ entity_type }) => entity_type);
    expect(await types({})).toEqual(["EMAIL_ADDRESS", "CREDIT_CARD", "IP_ADDRESS"]);
    expect(await types({ entities: ["CREDIT_CARD", "UNKNOWN_THING"] })).toEqual(["CREDIT_CARD"]);
    expect(await types({ entities: [] })).toHaveLength(3);
    expect(await types({ score_threshold: 1 })).not.toContain("IP_ADDRESS");
    expect(await types({ allow_list: ["192.0.2.7"] })).toEqual(["EMAIL_ADDRESS", "CREDIT_CARD"]);
    expect(await types({ allow_list: ["192.0.2"] })).toHaveLength(3);
    const regex = { allow_list: ["@EXAMPLE\\.org$", "^192\\."], allow_list_match: "regex" };
    expect(await types(regex)).toEqual(["CREDIT_CARD"]);
    expect(await types({ ...regex, regex_flags: 0 })).toEqual(["EMAIL_ADDRESS", "CREDIT_CARD"]);
  });

  it("rejects entities that no scanner looks for, and values it cannot use", async () => {
    const server = await testServer({}, CONFIG);
    const error = async (body: object) => {
      const reply = await server.post("/analyze", { text: "Hello.", language: "en", ...body });
      expect(reply.statusCode, reply.body).toBe(422);
      return reply.json().error as string;
    };
    expect(await error({ entities: ["UNKNOWN_THING"] })).toBe(
      "No matching recognizers were found to serve the request.",
    );
    expect(await error({ text: "" })).toContain("/text");
    expect(await error({ allow_list: ["(a"], allow_list_match: "regex" })).toContain("/allow_list/0");
    expect(await error({ allow_list: ["a"], allow_list_match: "regex", regex_flags: 4 })).toContain("/regex_flags");
    expect(await error({ ad_hoc_recognizers: [{ name: "x", supported_entity: "X" }] })).toContain("ad_hoc_recognizers");
  });

  it("needs a scanner that looks for personal data", async () => {
    const without = { dialects: ["presidio" as const] };
    await expect(testServer({ input: [wordScanner("zebra")] }, without)).rejects.toThrow(/dialects\.0.*personal data/);
    const inputScanners = [{ type: "Anonymize", params: { recognizerConf: [] } }];
    const server = await testServer({}, { ...CONFIG, inputScanners: [], profiles: { private: { inputScanners } } });
    const body = { text: "ann@example.org", language: "en" };
    const reply = await server.post("/analyze", body);
    expect([reply.statusCode, reply.json().error]).toEqual([422, "no scanner looks for personal data in this profile"]);
    expect((await server.post("/analyze", body, { "x-guard-profile": "private" })).json()).toHaveLength(1);
    expect((await server.get("/supportedentities")).json()).toEqual([]);
  });

  it("looks for requested entities only, so that values of others hide none of them", async () => {
    const all = { type: "Anonymize", params: { recognizerConf: [], entityTypes: "all" as const } };
    const server = await testServer({}, { ...CONFIG, inputScanners: [all] });
    const text = "😀 See https://example.org/?to=ann@example.org, or mail bob@example.org.";
    const values = async (entities?: string[], more: object = {}) => {
      const results = await analyze(server, { text, ...(entities ? { entities } : {}), ...more });
      return results.map(({ start, end }) => Array.from(text).slice(start, end).join(""));
    };
    const link = "https://example.org/?to=ann@example.org";
    expect(await values()).toEqual([link, "bob@example.org"]);
    expect(await values(["EMAIL_ADDRESS"])).toEqual(["ann@example.org", "bob@example.org"]);
    expect(await values(["URL"])).toEqual([link]);
    expect(await values(["EMAIL_ADDRESS", "URL"])).toEqual([link, "bob@example.org"]);
    const to = { name: "To", supported_entity: "Target", patterns: [{ name: "to", regex: "to=\\w+", score: 0.9 }] };
    expect(await values(["Target"], { ad_hoc_recognizers: [to] })).toEqual(["to=ann"]);
    expect(await values(["CREDIT_CARD"])).toEqual([]);
    const both = await server.post("/analyze", { text: [text, text], language: "en", entities: ["EMAIL_ADDRESS"] });
    expect((both.json() as Result[][]).map(({ length }) => length)).toEqual([2, 2]);
  });

  it("reads all texts with all scanners, whatever ends other scans", async () => {
    const of = (entityTypes: string[]) => ({ type: "Anonymize", params: { recognizerConf: [], entityTypes } });
    const inputScanners = [of(["EMAIL_ADDRESS"]), of(["IP_ADDRESS"])];
    const server = await testServer({}, { ...CONFIG, inputScanners, app: { lazyLoad: true, scanFailFast: true } });
    const text = "ann@example.org at 192.0.2.7";
    const reply = await server.post("/analyze", { text: [text, text], language: "en" });
    const both = [
      ["EMAIL_ADDRESS", 0, 15],
      ["IP_ADDRESS", 19, 28],
    ];
    expect((reply.json() as Result[][]).map(found)).toEqual([both, both]);
  });

  it("takes recognizers of the request, which need a right", async () => {
    const card = {
      name: "Library card",
      supported_language: "en",
      supported_entity: "Library_Card",
      patterns: [{ name: "card", regex: "lc-\\d{6}", score: 0.6 }],
      context: ["library"],
    };
    const server = await testServer({}, CONFIG);
    const text = "My library card is LC-482913.";
    const body = { text, ad_hoc_recognizers: [card], return_decision_process: true };
    const [result] = await analyze(server, body);
    expect(result).toMatchObject({
      ...{ entity_type: "Library_Card", start: 19, end: 28, score: expect.closeTo(0.95) },
      analysis_explanation: { recognizer: "Library card", pattern_name: "card", supportive_context_word: "library" },
    });
    expect(await analyze(server, { ...body, entities: ["Library_Card"] })).toHaveLength(1);
    expect(await analyze(server, { ...body, entities: ["EMAIL_ADDRESS"] })).toEqual([]);
    expect(await analyze(server, { ...body, language: "de" })).toEqual([]);
    const keys = { type: "api_key" as const, header: "x-api-key" };
    const strict = await testServer(
      {},
      {
        ...CONFIG,
        auth: [
          { ...keys, keys: ["a-long-key-1"] },
          { ...keys, header: "x-other", keys: ["a-long-key-2"] },
        ],
      },
    );
    const refused = await strict.post("/analyze", { language: "en", ...body }, { "x-api-key": "a-long-key-1" });
    expect([refused.statusCode, typeof refused.json().error]).toEqual([403, "string"]);
  });

  it("uses the names of Presidio in both directions", async () => {
    const params = { recognizerConf: [], entityTypes: "all" as const };
    const server = await testServer({}, { ...CONFIG, inputScanners: [{ type: "Anonymize", params }] });
    const text = "Passport number: C01X00T47. Ship to 12 Baker Street, London.";
    const types = async (entities?: string[]) =>
      (await analyze(server, { text, ...(entities ? { entities } : {}) })).map(({ entity_type }) => entity_type);
    expect(await types()).toEqual(expect.arrayContaining(["PASSPORT", "STREET_ADDRESS"]));
    expect(await types(["DE_PASSPORT", "LOCATION"])).toEqual(["DE_PASSPORT", "LOCATION"]);
    expect(await types(["DE_PASSPORT", "PASSPORT"])).toEqual(["PASSPORT"]);
    const entities = (await server.get("/supportedentities?language=en")).json() as string[];
    expect(entities).toEqual(expect.arrayContaining(["DATE_TIME", "IP_ADDRESS", "US_SSN", "DE_PASSPORT", "NRP"]));
    expect(entities).not.toContain("US_SSN_RE");
    expect((await server.get("/anonymizers")).json()).toContain("encrypt");
    expect((await server.get("/deanonymizers")).json()).toEqual(["decrypt", "deanonymize_keep"]);
    expect((await server.get("/health")).body).toBe("Presidio Analyzer service is up");
  });

  it("lists the recognizers that look for personal data, by language", async () => {
    const regexPatterns = [
      { name: "TICKET", expressions: ["T-\\d{5}"] },
      { name: "STAMP", expressions: ["ST-\\d{5}"], languages: ["de"] },
    ];
    const params = { recognizerConf: "embedded:ner", entityTypes: ["EMAIL_ADDRESS", "PERSON"], regexPatterns };
    const server = await testServer({}, { ...CONFIG, inputScanners: [{ type: "Anonymize", params }] });
    const names = async (query = "") => (await server.get(`/recognizers${query}`)).json() as string[];
    expect(await names()).toEqual(["email", "embedded:ner", "TICKET", "STAMP"]);
    expect(await names("?language=en")).toEqual(["email", "embedded:ner", "TICKET"]);
    expect(await names("?language=de-AT")).toContain("STAMP");
    const entities = async (query: string) => (await server.get(`/supportedentities${query}`)).json() as string[];
    expect(await entities("?language=en")).toEqual(["EMAIL_ADDRESS", "PERSON", "TICKET"]);
    expect(await entities("?language=de")).toContain("STAMP");
    const found = await analyze(server, { text: "Mail ann@example.org", entities: ["EMAIL_ADDRESS"] });
    expect(await names()).toContain(found[0]?.recognition_metadata.recognizer_name);
  });

  it("lists only what the options look for", async () => {
    const server = await testServer({}, CONFIG);
    const entities = (await server.get("/supportedentities")).json() as string[];
    expect(entities).toContain("EMAIL_ADDRESS");
    // They are looked for on demand, or by a model.
    for (const type of ["DATE_TIME", "NRP", "URL", "PERSON"]) expect(entities).not.toContain(type);
    const named = { type: "Anonymize", params: { recognizerConf: [], entityTypes: ["IP_ADDRESS"] } };
    const one = await testServer({}, { ...CONFIG, inputScanners: [named] });
    expect((await one.get("/supportedentities")).json()).toEqual(["IP_ADDRESS"]);
  });

  it("accepts entities that only a function of the program knows", async () => {
    const badge = (text: string) => (text.startsWith("badge") ? [{ start: 6, end: 8, type: "BADGE" }] : []);
    const scanner = new Anonymize({ recognizerConf: [], recognizers: [badge] });
    const server = await testServer({ input: [scanner] }, { dialects: ["presidio"], app: { lazyLoad: true } });
    expect(found(await analyze(server, { text: "badge 42", entities: ["BADGE"] }))).toEqual([["BADGE", 6, 8]]);
  });

  it("runs only scanners of personal data, also those of the output side", async () => {
    const sensitive = { type: "Sensitive", params: { recognizerConf: [] } };
    const server = await testServer(
      {},
      { dialects: ["presidio"], app: { lazyLoad: true }, outputScanners: [sensitive, { type: "Relevance" }] },
    );
    expect(found(await analyze(server, { text: "😀 ann@example.org" }))).toEqual([["EMAIL_ADDRESS", 2, 17]]);
    const line = server.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "request");
    expect(line).toMatchObject({ route: "/analyze", flagged: ["Sensitive"] });
  });

  it("fails if a scanner fails", async () => {
    const broken = {
      ...scannerOf("Broken", async () => {
        throw new Error("a secret");
      }),
      withRecognizers: () => broken,
    };
    const server = await testServer(
      { input: [broken as never] },
      { dialects: ["presidio"], app: { onScannerError: "block" } },
    );
    const reply = await server.post("/analyze", { text: "Hello.", language: "en" });
    expect([reply.statusCode, Object.keys(reply.json())]).toEqual([500, ["error"]]);
  });

  it("finds all values of a text with more than a scanner lists", async () => {
    const server = await testServer({}, CONFIG);
    const text = Array.from({ length: 2500 }, (_, index) => `😀 u${index}@example.org`).join("\n");
    const results = await analyze(server, { text });
    expect(results).toHaveLength(2500);
    const characters = Array.from(text);
    expect(
      results.every(({ start, end }, index) => characters.slice(start, end).join("") === `u${index}@example.org`),
    ).toBe(true);
  });
});

describe("Presidio's anonymizer", () => {
  const anonymize = async (body: object) => {
    const server = await testServer({}, CONFIG);
    return server.post("/anonymize", body);
  };
  const text = "😀 Ann Lee, call 555-0134.";
  const results = [
    { entity_type: "PERSON", start: 2, end: 9, score: 0.8 },
    { entity_type: "PHONE_NUMBER", start: 16, end: 24, score: 0.9 },
  ];
  const replaced = async (anonymizers?: object, analyzer_results: object[] = results) => {
    const reply = await anonymize({ text, analyzer_results, anonymizers });
    expect(reply.statusCode, reply.body).toBe(200);
    return reply.json() as { text: string; items: { start: number; end: number; text: string; operator: string }[] };
  };

  it("replaces results by their entity, and says where", async () => {
    expect(await replaced()).toEqual({
      text: "😀 <PERSON>, call <PHONE_NUMBER>.",
      items: [
        { start: 17, end: 31, entity_type: "PHONE_NUMBER", text: "<PHONE_NUMBER>", operator: "replace" },
        { start: 2, end: 10, entity_type: "PERSON", text: "<PERSON>", operator: "replace" },
      ],
    });
    expect(await replaced(undefined, [])).toEqual({ text, items: [] });
  });

  it("has the operators replace, redact, mask, hash, encrypt and keep", async () => {
    const only = async (operator: object) => (await replaced({ DEFAULT: operator })).items[0]?.text;
    expect(await only({ type: "replace", new_value: "X" })).toBe("X");
    expect(await only({ type: "redact" })).toBe("");
    expect(await only({ type: "keep" })).toBe("555-0134");
    const mask = { type: "mask", masking_char: "*", chars_to_mask: 4, from_end: true };
    expect(await only(mask)).toBe("555-****");
    expect(await only({ ...mask, from_end: false, chars_to_mask: 99 })).toBe("********");
    const salt = "0123456789abcdef";
    const sum = (type: string) => createHash(type).update(`555-0134${salt}`).digest("hex");
    expect(await only({ type: "hash", salt })).toBe(sum("sha256"));
    expect(await only({ type: "hash", hash_type: "sha512", salt })).toBe(sum("sha512"));
    expect(await only({ type: "hash" })).not.toBe(await only({ type: "hash" }));
    const key = "WmZq4t7w!z%C&F)J";
    const bytes = Buffer.from((await only({ type: "encrypt", key })) ?? "", "base64url");
    const decipher = createDecipheriv("aes-128-cbc", key, bytes.subarray(0, 16));
    expect(decipher.update(bytes.subarray(16), undefined, "utf8") + decipher.final("utf8")).toBe("555-0134");
    expect((await replaced({ PERSON: { type: "redact" }, DEFAULT: { type: "keep" } })).text).toBe(
      "😀 , call 555-0134.",
    );
  });

  it("resolves overlaps", async () => {
    const at = (entity_type: string, start: number, end: number, score = 0.5) => ({ entity_type, start, end, score });
    const masked = async (...given: object[]) => (await replaced(undefined, given)).text;
    expect(await masked(at("NAME", 2, 9), at("FIRST", 2, 5, 1), at("LAST", 6, 9))).toBe("😀 <NAME>, call 555-0134.");
    expect(await masked(at("NAME", 2, 6), at("NAME", 4, 9))).toBe("😀 <NAME>, call 555-0134.");
    expect(await masked(at("NAME", 2, 5), at("NAME", 6, 9))).toBe("😀 <NAME>, call 555-0134.");
    expect(await masked(at("A", 2, 9, 0.4), at("B", 2, 9, 0.6))).toBe("😀 <B>, call 555-0134.");
    expect(await masked(at("A", 2, 6), at("B", 4, 9))).toBe("😀 <A><B>, call 555-0134.");
    expect(await masked(at("A", 2, 9), at("B", 2, 9))).toBe("😀 <B>, call 555-0134.");
  });

  it("rejects what it cannot use", async () => {
    const error = async (body: object) => {
      const reply = await anonymize({ text, analyzer_results: results, ...body });
      expect(reply.statusCode, reply.body).toBe(422);
      return reply.json().error as string;
    };
    expect(await error({ text: "" })).toContain("/text");
    expect(await error({ text: "short" })).toContain("/analyzer_results/0");
    for (const operator of [
      { type: "custom", lambda: "lambda x: x" },
      { type: "mask", masking_char: "**", chars_to_mask: 1, from_end: true },
      { type: "encrypt", key: "short" },
      { type: "hash", salt: "short" },
      { type: "hash", hash_type: "md5" },
    ]) {
      const message = await error({ anonymizers: { DEFAULT: operator } });
      expect(message).toContain("/anonymizers/DEFAULT");
      expect(message).not.toContain("short");
    }
  });
});

describe("Presidio's deanonymizer", () => {
  const key = "WmZq4t7w!z%C&F)J";
  const text = "😀 Zoë, call 555-0134.";
  const analyzer_results = [
    { entity_type: "PERSON", start: 2, end: 5, score: 0.8 },
    { entity_type: "PHONE_NUMBER", start: 12, end: 20, score: 0.9 },
  ];
  const decrypt = { type: "decrypt", key };
  const restore = async (body: object) => (await testServer({}, CONFIG)).post("/deanonymize", body);

  it("restores what the anonymizer has encrypted", async () => {
    const server = await testServer({}, CONFIG);
    const anonymizers = { DEFAULT: { type: "encrypt", key } };
    const hidden = (await server.post("/anonymize", { text, analyzer_results, anonymizers })).json();
    expect(hidden.text).not.toContain("Zoë");
    const body = { text: hidden.text, anonymizer_results: hidden.items };
    const all = await server.post("/deanonymize", { ...body, deanonymizers: { DEFAULT: decrypt } });
    expect(all.json()).toEqual({
      text,
      items: [
        { start: 12, end: 20, entity_type: "PHONE_NUMBER", text: "555-0134", operator: "decrypt" },
        { start: 2, end: 5, entity_type: "PERSON", text: "Zoë", operator: "decrypt" },
      ],
    });
    const deanonymizers = { PERSON: decrypt, PHONE_NUMBER: { type: "deanonymize_keep" } };
    const one = (await server.post("/deanonymize", { ...body, deanonymizers })).json();
    expect(one.text.startsWith("😀 Zoë, call ")).toBe(true);
    expect(one.items[0]).toMatchObject({ operator: "deanonymize_keep", text: hidden.items[0].text });
  });

  it("restores what Presidio has encrypted", async () => {
    // The value of presidio-anonymizer 2.2.366 for this key.
    const value = "OtlOXJxc-1-K28e_H5XTYTyZCdaJP9RuKIsO7F-J6k8=";
    const place = { entity_type: "PERSON", start: 5, end: 49 };
    const body = { text: `I am ${value}.`, anonymizer_results: [place], deanonymizers: { PERSON: decrypt } };
    expect((await restore(body)).json().text).toBe("I am Zoë 😀.");
  });

  it("rejects what it cannot restore, and quotes nothing", async () => {
    const value = "OtlOXJxc-1-K28e_H5XTYTyZCdaJP9RuKIsO7F-J6k8=";
    const place = { entity_type: "PERSON", start: 0, end: 44 };
    const error = async (more: object) => {
      const body = { text: value, anonymizer_results: [place], deanonymizers: { PERSON: decrypt }, ...more };
      const reply = await restore(body);
      expect(reply.statusCode, reply.body).toBe(422);
      expect(reply.body).not.toContain(value);
      return reply.json().error as string;
    };
    const other = { type: "decrypt", key: "another-key-of-a" };
    expect(await error({ deanonymizers: { PERSON: other } })).toContain("/anonymizer_results/0");
    expect(await error({ text: "x".repeat(44) })).toContain("not a value that this key has encrypted");
    expect(await error({ text: "short" })).toContain("/anonymizer_results/0");
    expect(await error({ anonymizer_results: [place, place] })).toContain("overlaps");
    expect(await error({ deanonymizers: { EMAIL_ADDRESS: decrypt } })).toContain("no operator for PERSON");
    expect(await error({ deanonymizers: { PERSON: { type: "decrypt", key: "short" } } })).toContain("/deanonymizers");
    expect(await error({ deanonymizers: { PERSON: { type: "replace" } } })).toContain("/deanonymizers");
  });
});

describe("the health of a server with several dialects", () => {
  it("has the body that a program parses", async () => {
    for (const dialects of [
      ["fms", "presidio"],
      ["presidio", "fms"],
    ] as const) {
      const server = await testServer({}, { ...CONFIG, dialects: [...dialects] });
      expect((await server.get("/health")).json()).toEqual({ status: "HEALTHY" });
      expect(await analyze(server, { text: "ann@example.org" })).toHaveLength(1);
    }
  });
});
