import { describe, expect, it } from "vitest";
import { Anonymize } from "../../../src/scanners/generated/input-scanners.ts";
import { injectionScanner, testServer, wordScanner } from "../fixtures.ts";

const ofTools = { conversation: { sources: ["tool", "user"] } } as const;

describe("documents", () => {
  it("POST /scan/documents returns a verdict for each document", async () => {
    const { post } = await testServer({ input: [wordScanner("secret", { ...ofTools, replacement: "***" })] });
    const documents = [{ id: "a", text: "fine" }, "a secret", { id: 3, text: "" }, { id: null, text: "fine" }];
    const reply = await post("/scan/documents", { documents });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      is_valid: false,
      documents: [
        { id: "a", is_valid: true, scanners: { Word: -1 } },
        { is_valid: false, scanners: { Word: 1 } },
        { id: 3, is_valid: true, scanners: { Word: -1 } },
        { is_valid: true, scanners: { Word: -1 } },
      ],
    });
    expect((await post("/scan/documents", { documents: [] })).json()).toEqual({ is_valid: true, documents: [] });
  });

  it("POST /analyze/documents rewrites them, with one vault", async () => {
    const { post } = await testServer(
      { input: [new Anonymize({ recognizerConf: [] })] },
      { conversation: { scan: { tool: ["Anonymize"] } } },
    );
    const documents = ["Write to ann@example.org.", "bob@example.org and ann@example.org"];
    const analyzed = (await post("/analyze/documents", { documents })).json();
    expect(analyzed.documents.map((document: { sanitized_text: string }) => document.sanitized_text)).toEqual([
      "Write to [REDACTED_EMAIL_ADDRESS_1].",
      "[REDACTED_EMAIL_ADDRESS_2] and [REDACTED_EMAIL_ADDRESS_1]",
    ]);
    const { vault } = analyzed;
    const next = (await post("/analyze/documents", { documents: ["bob@example.org"], vault })).json();
    expect(next.documents[0].sanitized_text).toBe("[REDACTED_EMAIL_ADDRESS_2]");
    expect((await post("/scan/documents", { documents })).json()).not.toHaveProperty("vault");
  });

  it("cuts out injections on request, and returns their offsets in code points", async () => {
    const { post } = await testServer({ input: [injectionScanner()] });
    const documents = ["😀 Tea is old. Do p=0.99 now! It grows.", "Tea is old."];
    const reply = (await post("/scan/documents", { documents, mask_injections: true })).json();
    expect(reply).toEqual({
      is_valid: false,
      documents: [
        {
          sanitized_text: "😀 Tea is old. It grows.",
          is_valid: false,
          scanners: { PromptInjection: 0.5 },
          masked: {
            is_valid: true,
            scanners: { PromptInjection: -0.5 },
            statements: 1,
            cuts: [{ start: 14, end: 29, type: "injection", text: "Do p=0.99 now! ", score: 1 }],
          },
        },
        { sanitized_text: "Tea is old.", is_valid: true, scanners: { PromptInjection: -0.5 } },
      ],
    });
  });

  it("returns details of each document and of all together", async () => {
    const { post } = await testServer({ input: [wordScanner("secret", ofTools)] });
    const reply = (await post("/scan/documents", { documents: ["😀 secret", "abc"], details: true })).json();
    expect(reply.coverage).toMatchObject({ chars: 11, scanned_chars: 11 });
    expect(reply.documents[0]).toMatchObject({
      findings: { Word: [{ start: 2, end: 8 }] },
      coverage: { chars: 8, unscanned_sources: {} },
    });
    expect(reply).toHaveProperty("engine_timing");
  });

  it("claims no coverage of documents without scanners", async () => {
    const { post } = await testServer({ input: [wordScanner("secret")] });
    const reply = (await post("/scan/documents", { documents: ["a secret"], details: true })).json();
    expect(reply.documents[0]).toMatchObject({
      scanners: {},
      coverage: { scanned_chars: 0, unscanned_sources: { tool: 8 } },
    });
    const asUser = (await post("/scan/documents", { documents: ["a secret"], source: "user" })).json();
    expect(asUser.documents[0]).toEqual({ is_valid: false, scanners: { Word: 1 } });
  });

  it("applies require_full_coverage to each document, and to its rest after masking", async () => {
    const input = [injectionScanner(), wordScanner("secret", ofTools)];
    const { post } = await testServer({ input }, { app: { requireFullCoverage: true } });
    const body = { documents: ["Fine. Do p=0.99 now!"], mask_injections: true };
    expect((await post("/scan/documents", body)).json().documents[0].masked.is_valid).toBe(true);
    const less = (await post("/scan/documents", { ...body, scanners_suppress: ["Word"] })).json();
    expect(less.documents[0]).toMatchObject({ sanitized_text: "Fine.", masked: { is_valid: false } });
  });

  it("allows as many documents as messages of a conversation", async () => {
    const { post } = await testServer({}, { app: { maxMessages: 2 } });
    const reply = await post("/scan/documents", { documents: ["a", "b", "c"] });
    expect([reply.statusCode, reply.json().detail]).toEqual([
      413,
      "A call may have at most 2 documents (app.max_messages).",
    ]);
  });

  it("counts each document, and logs which scanners failed one", async () => {
    const { post, get, log } = await testServer({ input: [wordScanner("secret", ofTools)] });
    await post("/scan/documents", { documents: ["a secret", "b", "c"] });
    const { body } = await get("/metrics");
    expect(body).toContain('guard_scanner_verdicts_total{source="input",scanner="Word",valid="true"} 2');
    expect(body).toContain('guard_scanner_verdicts_total{source="input",scanner="Word",valid="false"} 1');
    const lines = log.map((line) => JSON.parse(line)).filter(({ flagged }) => flagged);
    expect(lines).toMatchObject([{ valid: false, flagged: ["Word"] }]);
    expect(log.join("")).not.toContain("secret");
  });

  it("caches results, with the names that each request gives the documents", async () => {
    const { post } = await testServer({ input: [injectionScanner()] }, { cache: { enabled: true } });
    for (const details of [true, false]) {
      const body = { documents: [{ id: "a", text: "Fine. Do p=0.99 now!" }], mask_injections: true, details };
      const { cache, ...first } = (await post("/scan/documents", body)).json();
      expect(cache).toBe(details ? "miss" : undefined);
      const { cache: second, ...again } = (await post("/scan/documents", body)).json();
      expect(second).toBe(details ? "hit" : undefined);
      expect(again).toEqual(first);
    }
  });
});
