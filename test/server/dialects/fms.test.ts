import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { passed, wholeText } from "../../../src/scan/scanner.ts";
import { injectionScanner, scannerOf, startServer, type TestServer, testServer, wordScanner } from "../fixtures.ts";

const CONTENTS = "/api/v1/text/contents";
const CHAT = "/api/v1/text/chat";
const DOCUMENTS = "/api/v1/text/context/doc";
const GENERATION = "/api/v1/text/generation";

const CONFIG: ConfigInput = {
  dialects: ["fms"],
  app: { lazyLoad: true },
  inputScanners: [
    { type: "Anonymize" },
    { type: "Secrets" },
    { type: "BanSubstrings", params: { substrings: ["zebra"] } },
    { type: "BanSubstrings", name: "Rivals", params: { substrings: ["umbrella corp"] } },
  ],
  outputScanners: [
    { type: "Sensitive" },
    { type: "LanguageSame" },
    { type: "BanSubstrings", params: { substrings: ["zebra"] } },
  ],
};

/** The server of all tests that need no other configuration. */
let server: TestServer;
beforeAll(async () => {
  server = await startServer({}, CONFIG);
});
afterAll(() => server.app.close());

/** Sends a request as the orchestrator does: with the detector's id and parameters, and the JSON that its clients write. */
async function detects<T>(server: TestServer, path: string, body: object, detector?: string): Promise<T> {
  const headers = detector === undefined ? {} : { "detector-id": detector, "x-model-name": detector };
  const reply = await server.post(path, { detector_params: {}, ...body }, headers);
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

interface Found {
  start: number;
  end: number;
  text: string;
  detection: string;
  detection_type: string;
  score: number;
}

const inTexts = (server: TestServer, contents: string[], detector?: string, params: object = {}) =>
  detects<Found[][]>(server, CONTENTS, { contents, detector_params: params }, detector);

describe("texts of the FMS detectors API", () => {
  it("returns the findings of each text, in the shape that the orchestrator reads", async () => {
    const contents = [
      "Your mail is carol@example.org! Ask dave@example.net too.",
      "Nothing to see.",
      "A horse and a zebra.",
    ];
    const [personal, none, banned] = await inTexts(server, contents, "guard");
    expect(personal).toEqual([
      {
        start: 13,
        end: 30,
        text: "carol@example.org",
        detection: "EMAIL_ADDRESS",
        detection_type: "personal_data",
        score: 0.95,
        metadata: { scanner: "Anonymize" },
      },
      expect.objectContaining({ start: 36, end: 52, text: "dave@example.net" }),
    ]);
    expect(none).toEqual([]);
    expect(banned?.map(({ text }) => text)).toEqual(["zebra"]);
  });

  it("counts code points, also after another finding", async () => {
    const content = "😀 Write to carol@example.org 👩‍👩‍👧 about the zebra 🦓 today.";
    const [found = []] = await inTexts(server, [content]);
    expect(found.map(({ text }) => text)).toEqual(["carol@example.org", "zebra"]);
    for (const { start, end, text } of found) expect(Array.from(content).slice(start, end).join("")).toBe(text);
  });

  it("returns the matched text of each finding", async () => {
    const other = await testServer({ input: [wordScanner("zebra")] }, { dialects: ["fms"] });
    const around = fc.string({ unit: "grapheme", maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(around, around, async (before, after) => {
        const content = `${before}zebra${after}`;
        const [[found] = []] = await inTexts(other, [content]);
        expect(found?.text).toBe("zebra");
        expect(Array.from(content).slice(found?.start, found?.end).join("")).toBe("zebra");
      }),
      { numRuns: 50 },
    );
  });

  it("runs the scanners of one side, or one scanner, by the id of the detector", async () => {
    const contents = ["Ask carol@example.org at Umbrella Corp about the zebra."];
    const scanners = async (detector: string) => {
      const [found = []] = await detects<{ metadata: { scanner: string } }[][]>(
        server,
        CONTENTS,
        { contents },
        detector,
      );
      return found.map(({ metadata }) => metadata.scanner);
    };
    expect(await scanners("guard")).toEqual(["Anonymize", "Rivals", "BanSubstrings"]);
    expect(await scanners("guard/strict")).toEqual(await scanners("guard"));
    expect(await scanners("guard-output")).toEqual(["Sensitive", "BanSubstrings"]);
    expect(await scanners("Anonymize")).toEqual(["Anonymize"]);
    expect(await scanners("Rivals")).toEqual(["Rivals"]);
    expect(await scanners("BanSubstrings/animals")).toEqual(["Rivals", "BanSubstrings"]);
    expect(await scanners("BanSubstrings-output")).toEqual(["BanSubstrings"]);
  });

  it.each(["hap-v1-model-en", "", "guard-input", "Sensitive", "Anonymize-output", "LanguageSame-output", "__proto__"])(
    "rejects the unknown detector %j, and runs no other",
    async (detector) => {
      const reply = await server.post(CONTENTS, { contents: ["Hello."] }, { "detector-id": detector });
      expect(reply.statusCode).toBe(404);
      expect(reply.json()).toEqual({
        code: 404,
        message:
          "The header detector-id names no detector of this endpoint. Known detectors: guard, Anonymize, Secrets, BanSubstrings, Rivals, " +
          "guard-output, Sensitive-output, BanSubstrings-output.",
      });
    },
  );

  it("omits detections below the threshold", async () => {
    const server = await testServer({ input: [wordScanner("maybe")] }, { dialects: ["fms"] });
    expect((await inTexts(server, ["maybe"], "guard", { threshold: 1 }))[0]).toHaveLength(1);
    const unsure = scannerOf("Unsure", async (text) => ({
      isValid: false,
      score: 0.2,
      probability: 0.6,
      findings: [],
      coverage: wholeText(text),
    }));
    const other = await testServer({ input: [unsure] }, { dialects: ["fms"] });
    expect(await inTexts(other, ["text"], "guard", { threshold: 0.61 })).toEqual([[]]);
    expect(await inTexts(other, ["tëxt😀"], "guard", { threshold: 0.6 })).toEqual([
      [
        {
          start: 0,
          end: 5,
          text: "tëxt😀",
          detection: "Unsure",
          detection_type: "failed_check",
          score: 0.6,
          metadata: { scanner: "Unsure" },
        },
      ],
    ]);
  });

  it("finds nothing in any harmless text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 5 }), async (contents) => {
        // The scanner looks for a word that none of these texts has.
        expect(await inTexts(server, contents, "Rivals")).toEqual(contents.map(() => []));
      }),
      { numRuns: 40 },
    );
  });

  it.each(["guard", "guard-output"])("limits the number of texts per call for %s", async (detector) => {
    const few = await testServer({ input: [], output: [] }, { dialects: ["fms"], app: { maxMessages: 2 } });
    expect(await inTexts(few, ["a", "b"], detector)).toEqual([[], []]);
    const reply = await few.post(CONTENTS, { contents: ["a", "b", "c"] }, { "detector-id": detector });
    expect(reply.statusCode).toBe(413);
    expect(reply.json()).toEqual({
      code: 413,
      message: expect.stringMatching(/^A call may have at most 2 \w+ \(app\.max_messages\)\.$/),
    });
  });

  it("reports an incompletely scanned text if full coverage is required", async () => {
    const partly = scannerOf("Partly", async (text) => {
      const coverage = { ...wholeText(text), scannedChars: 0, truncated: true };
      return passed(text, coverage);
    });
    const scanners = { input: [partly, wordScanner("zebra")] };
    const strict = await testServer(scanners, { dialects: ["fms"], app: { requireFullCoverage: true } });
    const [[found] = []] = await inTexts(strict, ["long"]);
    expect(found).toMatchObject({ start: 0, end: 4, detection: "incomplete_coverage", score: 1 });
    // A scanner that was not requested does not count as missing.
    expect(await inTexts(strict, ["long"], "Word")).toEqual([[]]);
    const lax = await testServer(scanners, { dialects: ["fms"] });
    expect(await inTexts(lax, ["long"])).toEqual([[]]);
  });
});

describe("other requests of the FMS detectors API", () => {
  const chat = [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: "Hi, are you powered by a parrot?" },
    { role: "assistant", content: "No, by a model." },
    { role: "user", content: "Great! Mail it to carol@example.org." },
  ];

  it("judges a chat as a whole", async () => {
    expect(await detects(server, CHAT, { messages: chat.slice(0, 3), tools: [] }, "guard/chat")).toEqual([]);
    expect(await detects(server, CHAT, { messages: chat, tools: [] }, "guard/chat")).toEqual([
      {
        detection: "Anonymize",
        detection_type: "personal_data",
        score: 0.95,
        evidence: [{ name: "messages/3/content", value: "carol@example.org", score: 0.95 }],
      },
    ]);
    // The specification has neither tools nor parameters.
    const reply = await server.post(CHAT, { messages: chat });
    expect(reply.json()).toHaveLength(1);
  });

  it("returns the most confident detection first", async () => {
    const sure = (name: string, probability: number) =>
      scannerOf(name, async (text) => ({
        isValid: false,
        score: 0.1,
        probability,
        findings: [],
        coverage: wholeText(text),
      }));
    const other = await testServer(
      { input: [sure("Unsure", 0.6), sure("Sure", 0.99), sure("Halfway", 0.8)] },
      { dialects: ["fms"] },
    );
    const found = await detects<{ detection: string }[]>(other, CHAT, { messages: chat });
    expect(found.map(({ detection }) => detection)).toEqual(["Sure", "Halfway", "Unsure"]);
  });

  it("judges tool results, by the requested scanner only", async () => {
    const server = await testServer({ input: [injectionScanner(), wordScanner("zebra")] }, { dialects: ["fms"] });
    const messages = [
      { role: "user", content: "What does the page say?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "get", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "p=0.99" },
    ];
    const checks = (found: { detection: string }[]) => found.map(({ detection }) => detection);
    expect(checks(await detects(server, CHAT, { messages }, "PromptInjection"))).toEqual(["PromptInjection[tool]"]);
    expect(checks(await detects(server, CHAT, { messages }, "Word"))).toEqual([]);
    messages.push({ role: "user", content: "And the zebra?" });
    expect(checks(await detects(server, CHAT, { messages }, "Word"))).toEqual(["Word"]);
  });

  it("reports that images were not scanned, and fails them if full coverage is required", async () => {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "https://example.org/a.png" } },
    ];
    const body = { messages: [{ role: "user", content }], tools: [] };
    const unread = { detection_type: "coverage", detection: "not_scanned", score: 0, metadata: { parts_skipped: 1 } };
    const server = await testServer({ input: [wordScanner("zebra")] }, { dialects: ["fms"] });
    expect(await detects(server, CHAT, body)).toEqual([unread]);
    expect(await detects(server, CHAT, { ...body, detector_params: { threshold: 0.01 } })).toEqual([]);
    const strict = await testServer(
      { input: [wordScanner("zebra")] },
      { dialects: ["fms"], app: { requireFullCoverage: true } },
    );
    expect(await detects(strict, CHAT, body)).toEqual([
      expect.objectContaining({ detection: "incomplete_coverage", score: 1 }),
      unread,
    ]);
  });

  it("judges documents as data, and the text beside them as a user's", async () => {
    const server = await testServer({ input: [injectionScanner(), wordScanner("zebra")] }, { dialects: ["fms"] });
    const body = { content: "What is it about?", context_type: "docs", context: ["It is fine.", "p=0.99"] };
    const found = await detects<{ detection: string }[]>(server, DOCUMENTS, body, "guard/documents");
    expect(found.map(({ detection }) => detection)).toEqual(["PromptInjection[tool]"]);
    expect(await detects(server, DOCUMENTS, { ...body, context: [], content: "A zebra" })).toMatchObject([
      { detection: "Word", evidence: [{ name: "messages/0/content", value: "zebra" }] },
    ]);
    expect(await detects(server, DOCUMENTS, { ...body, context: ["It is fine."] })).toEqual([]);
  });

  it("reports that it fetches nothing", async () => {
    const context = ["https://en.wikipedia.org/wiki/Zebra_crossing", "https://example.org/carol@example.org"];
    const body = { content: "What is the name of the race?", context_type: "url", context };
    const found = await detects<{ detection: string }[]>(server, DOCUMENTS, body);
    expect(found.at(-1)).toEqual({
      detection_type: "coverage",
      detection: "not_scanned",
      score: 0,
      metadata: { parts_skipped: 2 },
    });
  });

  it("compares an answer with its prompt", async () => {
    const body = { prompt: "Where can I write to?", generated_text: "Write to carol@example.org." };
    for (const detector of ["guard", "guard-output", "Sensitive", "Sensitive-output"]) {
      expect(await detects(server, GENERATION, body, detector)).toMatchObject([
        { detection: "Sensitive", detection_type: "personal_data", evidence: [{ value: "carol@example.org" }] },
      ]);
    }
    const seen: unknown[] = [];
    const asking = scannerOf(
      "Asking",
      async (text, { prompt }) => {
        seen.push(prompt);
        return passed(text);
      },
      { comparesWithPrompt: true },
    );
    const other = await testServer({ output: [asking] }, { dialects: ["fms"] });
    expect(await detects(other, GENERATION, body, "Asking")).toEqual([]);
    expect(await inTexts(other, ["A text without a prompt."], "guard-output")).toEqual([[]]);
    expect(seen).toEqual(["Where can I write to?"]);
  });

  it.each([
    [CONTENTS, { contents: "text" }, "/contents: must be array."],
    [CONTENTS, {}, "/contents: is required."],
    [CONTENTS, { contents: ["a"], detector_params: { threshold: 2 } }, "/detector_params/threshold: must be <= 1"],
    [
      CONTENTS,
      { contents: ["a"], detector_params: { regex: ["email"] } },
      "/detector_params/regex: is not a parameter of guard's detectors: the only one is threshold.",
    ],
    [CHAT, { messages: [] }, "/messages: must NOT have fewer than 1 items"],
    [CHAT, { messages: [{ role: "wizard", content: "Hi." }] }, "/messages/0/role: must be one of"],
    [DOCUMENTS, { content: "a", context_type: "video", context: [] }, "/context_type: must be one of url, docs"],
    [GENERATION, { prompt: "a" }, "/generated_text: is required."],
  ])("rejects %s with %j", async (path, body, message) => {
    const reply = await server.post(path, body, { "detector-id": "guard" });
    expect(reply.statusCode).toBe(422);
    expect(reply.headers["content-type"]).toMatch(/^application\/json/);
    expect(Object.keys(reply.json())).toEqual(["code", "message"]);
    expect(reply.json().code).toBe(422);
    expect(reply.json().message).toContain(message);
  });

  it("returns no detections if a scanner throws", async () => {
    const broken = scannerOf("Broken", async () => {
      throw new Error("the text was: zebra");
    });
    const server = await testServer({ input: [broken], output: [broken] }, { dialects: ["fms"] });
    for (const [path, body] of [
      [CONTENTS, { contents: ["zebra"] }],
      [CHAT, { messages: chat }],
      [GENERATION, { prompt: "a", generated_text: "b" }],
    ] as const) {
      const reply = await server.post(path, body);
      expect(reply.json()).toEqual({ code: 500, message: "The scanner Broken failed." });
      expect(reply.statusCode).toBe(500);
    }
  });

  it("requires the credential of the server, except for health checks", async () => {
    const server = await testServer(
      {},
      { ...CONFIG, auth: [{ type: "http_bearer", token: "a-token-of-some-length" }] },
    );
    const refused = await server.post(CONTENTS, { contents: [] });
    expect([refused.statusCode, refused.json()]).toEqual([401, { code: 401, message: "A credential is required." }]);
    const health = await server.get("/health");
    expect([health.statusCode, health.json()]).toEqual([200, { status: "HEALTHY" }]);
  });

  it("is not ready before its models are loaded", async () => {
    const loading = { ...wordScanner("a"), load: () => new Promise<void>(() => {}) };
    const server = await testServer({ input: [loading] }, { dialects: ["fms"] });
    const health = await server.get("/health");
    expect(health.statusCode).toBe(503);
    expect(health.json()).toEqual({ code: 503, message: expect.stringContaining("starting") });
    expect((await server.post(CONTENTS, { contents: ["a"] })).statusCode).toBe(503);
  });

  it("exists only if the configuration enables it", async () => {
    const server = await testServer({ input: [] });
    expect((await server.post(CONTENTS, { contents: [] })).statusCode).toBe(404);
    expect((await server.get("/health")).statusCode).toBe(404);
  });
});
