import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationRisk, GuardError, scanOutput, scanPrompt } from "../../src/index.ts";
import type { Scanner, ScannerVerdict, Verdict } from "../../src/scan/scanner.ts";
import { PromptInjection } from "../../src/scanners/generated/input-scanners.ts";
import { Sensitive } from "../../src/scanners/generated/output-scanners.ts";

/** Results of careless programs: any JSON, and values that JSON cannot express. */
const anything = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(undefined, Number.NaN, Number.POSITIVE_INFINITY, new Array(2), () => 1, Symbol("odd"), 1n),
);

/** Objects with the right field names and arbitrary values, which a check is more likely to miss. */
function withFields(fields: readonly string[]) {
  return fc.record(Object.fromEntries(fields.map((name) => [name, anything])), { requiredKeys: [] });
}

function probability(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1 + 1e-6;
}

/** Whether a classifier's result has a documented form. */
function isAnswer(value: unknown): boolean {
  if (Array.isArray(value)) {
    const labels = Array.from(value, (item) => ({ ...(item ?? {}) }) as { label?: unknown; score?: unknown });
    return (
      labels.every(({ label, score }) => typeof label === "string" && probability(score)) &&
      labels.some(({ label }) => label === "INJECTION")
    );
  }
  if (typeof value !== "object" || value === null) return probability(value);
  const { score, category } = value as { score?: unknown; category?: unknown };
  return probability(score) && (category === undefined || typeof category === "string");
}

function returning(verdict: unknown): Scanner {
  return { type: "Mine", name: "Mine", sanitizes: false, scan: async () => verdict as Verdict };
}

const TEXT = "a 😀 b";
const GOOD: Verdict = {
  ...{ isValid: true, score: -1, findings: [] },
  coverage: { chars: TEXT.length, scannedChars: TEXT.length, truncated: false, windows: 1 },
};

/** Whether a scan passed. An error must be a GuardError that names the culprit. */
async function passes(scan: Promise<{ isValid: boolean }>, name: RegExp): Promise<boolean> {
  try {
    return (await scan).isValid;
  } catch (error) {
    expect(error).toBeInstanceOf(GuardError);
    expect((error as Error).message).toMatch(name);
    return false;
  }
}

describe("a result of foreign code", () => {
  it("never passes as a classifier's result, unless it is valid", async () => {
    const label = withFields(["label", "score"]);
    const answers = fc.oneof(
      anything,
      withFields(["score", "category"]),
      fc.array(fc.oneof(label, fc.record({ label: fc.constant("INJECTION"), score: anything }))),
    );
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const scanner = new PromptInjection({ classifier: () => answer as never, deobfuscate: false });
        const valid = await passes(scanPrompt([scanner], TEXT), /^PromptInjection: the classifier returned/);
        if (!isAnswer(answer)) expect(valid).toBe(false);
      }),
    );
  });

  it("never passes as a scanner's verdict, unless it is valid", async () => {
    const verdicts = fc.oneof(
      anything,
      withFields(Object.keys(GOOD)),
      // One field is arbitrary. All others are valid.
      fc.tuple(fc.constantFrom(...Object.keys(GOOD)), anything).map(([field, value]) => ({ ...GOOD, [field]: value })),
    );
    await fc.assert(
      fc.asyncProperty(verdicts, async (verdict) => {
        const valid = await passes(scanPrompt([returning(verdict)], TEXT), /^Mine: its result is not a verdict: \w/);
        if (!valid) return;
        const { isValid, score, findings, coverage } = verdict as Verdict;
        expect([isValid, score <= 0, Array.isArray(findings)]).toEqual([true, true, true]);
        expect(coverage).toMatchObject({ chars: TEXT.length });
      }),
    );
  });

  it.each<[Partial<Record<keyof ScannerVerdict, unknown>>, string]>([
    [{ score: 1 }, "score 1 contradicts isValid: true"],
    [{ isValid: false, score: 0 }, "score 0 contradicts isValid: false"],
    [{ isValid: 1 }, "isValid"],
    [{ score: Number.NaN }, "score"],
    [{ score: null }, "score"],
    [{ probability: null }, "probability"],
    [{ sanitized: 5 }, "sanitized"],
    [{ edits: {} }, "edits"],
    [{ edits: [{ start: 0, end: 99, replacement: "" }] }, "edits"],
    [{ edits: [{ start: 0, end: 3, replacement: "half of a character" }] }, "edits"],
    [
      {
        edits: [
          { start: 1, end: 2, replacement: "" },
          { start: 0, end: 1, replacement: "" },
        ],
      },
      "edits",
    ],
    [{ findings: {} }, "findings"],
    [{ findings: [{ start: 0, end: 3, type: "half of a character", score: 1 }] }, "findings.0"],
    [{ findings: [{ start: 0, end: 99, type: "behind the end", score: 1 }] }, "findings.0"],
    [{ findings: [{ start: 2, end: 4, type: "emoji", score: "1" }] }, "findings.0"],
    [{ findings: new Array(1) }, "findings.0"],
    [{ coverage: { ...GOOD.coverage, scannedChars: 99 } }, "coverage.scannedChars"],
    [{ coverage: { ...GOOD.coverage, truncated: "no" } }, "coverage.truncated"],
    [{ coverage: { ...GOOD.coverage, windows: Number.NaN } }, "coverage.windows"],
    [{ coverage: { ...GOOD.coverage, untrainedLanguages: "de" } }, "coverage.untrainedLanguages"],
  ])("is an error that names the invalid field of a verdict: %j", async (wrong, field) => {
    await expect(scanPrompt([returning({ ...GOOD, ...wrong })], TEXT)).rejects.toMatchObject({
      code: "GUARD_SCANNER",
      scanner: "Mine",
      message: expect.stringContaining(`Mine: its result is not a verdict: ${field}`),
    });
    const blocked = await scanPrompt([returning({ ...GOOD, ...wrong })], TEXT, { onScannerError: "block" });
    expect(blocked).toMatchObject({ isValid: false, coverage: { failed: ["Mine"] } });
  });

  it.each<Partial<ScannerVerdict>>([{ edits: [{ start: 0, end: 1, replacement: "A" }] }, { sanitized: "A 😀 b" }])(
    "is an error if it rewrites the text, and its scanner does not say so: %j",
    async (rewriting) => {
      const scanner = returning({ ...GOOD, ...rewriting });
      const message = "Mine: its result rewrites the text, but the scanner does not have sanitizes: true";
      await expect(scanPrompt([scanner, scanner], TEXT)).rejects.toMatchObject({ code: "GUARD_SCANNER", message });
      const blocked = await scanPrompt([scanner, scanner], TEXT, { onScannerError: "block" });
      expect(blocked).toMatchObject({
        isValid: false,
        sanitizedPrompt: TEXT,
        coverage: { failed: ["Mine", "Mine#2"] },
      });
      expect(await scanPrompt([{ ...scanner, sanitizes: true }], TEXT)).toMatchObject({ sanitizedPrompt: "A 😀 b" });
    },
  );

  it("may contain edits or a text that change nothing", async () => {
    expect(await scanPrompt([returning({ ...GOOD, edits: [] })], TEXT)).toMatchObject({ isValid: true });
    expect(await scanPrompt([returning({ ...GOOD, sanitized: TEXT })], TEXT)).toMatchObject({ isValid: true });
  });

  it("is accepted if it is valid, with offsets at the borders of characters", async () => {
    const findings = [{ start: 2, end: 4, type: "emoji", text: "😀", score: 1 }];
    expect(await scanPrompt([returning({ ...GOOD, score: 0, findings })], TEXT)).toMatchObject({ isValid: true });
  });

  it.each<[unknown, RegExp]>([
    [null, /not an array/],
    [new Array(1), /start and end of 0/],
    [[{ start: 0, end: 3, type: "X" }], /start and end of 0/],
    [[{ start: "0", end: 1, type: "X" }], /start and end of 0/],
    [[{ start: 0, end: 1, type: "a b" }], /type of 0/],
    [[{ start: 0, end: 1, type: "X", score: null }], /score of 0/],
    [[{ start: 0, end: 1, type: "X", score: Number.NaN }], /score of 0/],
  ])("never counts as empty: %j", async (found, wrong) => {
    const recognizer = new Sensitive({ entityTypes: ["X"], recognizers: [async () => found as never] });
    const scanned = scanOutput([recognizer], "", TEXT);
    await expect(scanned).rejects.toMatchObject({ code: "GUARD_SCANNER", scanner: "Sensitive" });
    await expect(scanned).rejects.toThrow(wrong);
    await expect(scanned).rejects.toThrow("recognizers.0");
  });

  it("never adds to the risk, and is not quoted", async () => {
    const values = anything.filter((value) => !(typeof value === "number" && Number.isFinite(value) && value >= 0));
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const risk = new ConversationRisk(() => value as never);
        await expect(risk.assess(["a text"])).rejects.toThrow("the scoring function returned");
        const detecting = { ...returning(GOOD), detect: async () => ({ score: value as number }) };
        await expect(ConversationRisk.fromScanner(detecting).assess(["a text"])).rejects.toThrow("detect()");
      }),
    );
    await expect(new ConversationRisk((text) => text as never).assess(["secret"])).rejects.not.toThrow("secret");
  });
});
