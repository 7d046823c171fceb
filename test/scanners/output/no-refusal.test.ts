import { describe, expect, it } from "vitest";
import { NoRefusal } from "../../../src/scanners/output/no-refusal.ts";
import { createScanner } from "../../../src/scanners/registry.ts";
import { filler, judges } from "../../judges.ts";

describe("NoRefusal", () => {
  it("fails a refusal, wherever it stands", async () => {
    const scanner = new NoRefusal({ model: judges });
    const text = `${filler.repeat(3)}sorry , we cannot help you`;
    const { isValid, score, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(score).toBe(0.8);
    expect(findings[0]).toMatchObject({ type: "refusal", label: "refusal" });
    expect(await scanner.scan("this is the answer")).toMatchObject({ isValid: true, score: -0.9 });
  });

  it("points at the sentence, or reads all, as asked", async () => {
    const text = "This is the answer. We cannot help you.";
    const sentence = new NoRefusal({ model: judges, matchType: "sentence" });
    expect((await sentence.scan(text)).findings).toMatchObject([{ start: 20, end: 39, text: "We cannot help you." }]);
    const all = createScanner("output", "NoRefusal", { model: judges, match_type: "all" });
    expect((await all.scan(text, {})).findings).toMatchObject([{ start: 0, end: 39 }]);
  });
});
