import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Regex } from "../../src/scanners/generated/input-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { scanned } from "../support/rewritten.ts";

const scan = (text: string, options: ConstructorParameters<typeof Regex>[0]) => scanned(new Regex(options), text);

describe("Regex", () => {
  it("redacts the first match, or all with matchType all", async () => {
    const text = "Bearer abc123 and Bearer def456";
    const patterns = ["Bearer [a-z0-9]+"];
    expect(await scan(text, { patterns })).toMatchObject({
      isValid: false,
      score: 1,
      rewritten: "[REDACTED] and Bearer def456",
    });
    expect(await scan(text, { patterns, matchType: "all" })).toMatchObject({ rewritten: "[REDACTED] and [REDACTED]" });
  });

  it("matches the whole text with matchType fullmatch", async () => {
    const options = { patterns: ["a|ab"], matchType: "fullmatch" as const };
    expect(await scan("ab", options)).toMatchObject({ isValid: false, rewritten: "[REDACTED]" });
    expect(await scan("abc", options)).toMatchObject({ isValid: true, score: -1 });
  });

  it("passes only matching texts if patterns are allowed", async () => {
    const options = { patterns: ["^ticket \\d+"], isBlocked: false };
    expect(await scan("ticket 42: broken", options)).toEqual(expect.objectContaining({ isValid: true, score: -1 }));
    const failed = await scan("hello", options);
    expect(failed).toMatchObject({ isValid: false, score: 1 });
    expect(failed).not.toHaveProperty("edits");
  });

  it("applies every pattern, and reports offsets in UTF-16 code units", async () => {
    const { findings, rewritten } = await scan("😀 id 12, mail a@b.c", { patterns: ["\\d+", "\\S+@\\S+"] });
    expect(findings.map(({ start, end, text, label }) => [start, end, text, label])).toEqual([
      [6, 8, "12", "\\d+"],
      [15, 20, "a@b.c", "\\S+@\\S+"],
    ]);
    expect(rewritten).toBe("😀 id [REDACTED], mail [REDACTED]");
  });

  it("keeps the text when redact is off", async () => {
    const verdict = await scan("secret", { patterns: ["secret"], redact: false });
    expect(verdict.isValid).toBe(false);
    expect(verdict).not.toHaveProperty("edits");
  });

  it("supports look-around and back-references", async () => {
    expect(await scan("price 100 EUR", { patterns: ["\\d+(?= EUR)"] })).toMatchObject({
      rewritten: "price [REDACTED] EUR",
    });
    expect(await scan("the the cat", { patterns: ["\\b(\\w+) \\1\\b"] })).toMatchObject({
      rewritten: "[REDACTED] cat",
    });
  });

  it("throws if a pattern reaches the step limit", async () => {
    const call = scan(`${"a".repeat(60)}!`, { patterns: ["fine", "^((a|aa)(?!c))+$"] });
    await expect(call).rejects.toMatchObject({
      code: "GUARD_PATTERN",
      message: expect.stringMatching(/^patterns\.1: /),
    });
  });

  it("finds the same in a long text as in a short one", async () => {
    const verdict = await scan(`${"é".repeat(20_000)} 555-1234`, { patterns: ["\\d{3}-\\d{4}"] });
    expect(verdict.findings[0]).toMatchObject({ start: 20_001, end: 20_009 });
    expect(verdict.rewritten.endsWith("é [REDACTED]")).toBe(true);
  });

  describe("with deobfuscate", () => {
    const credentials = { patterns: ["\\bsk-[a-z0-9]{8,}"], matchType: "all" as const, deobfuscate: true };

    it.each([
      ["key: c2stYWJjZGVmZ2gxMjM0!", "key: [REDACTED]!", "base64", "c2stYWJjZGVmZ2gxMjM0"],
      ["key: ｓｋ-abcdefgh1234!", "key: [REDACTED]!", "normalized", "ｓｋ-abcdefgh1234"],
      ["key: sk\u200b-abcd\u00adefgh1234", "key: [REDACTED]", "normalized", "sk\u200b-abcd\u00adefgh1234"],
      ["key: %73%6b-abcdefgh1234 ok", "key: [REDACTED] ok", "percent", "%73%6b-abcdefgh1234"],
      ["key: &#115;k-abcdefgh1234", "key: [REDACTED]", "entity", "&#115;k-abcdefgh1234"],
      ["key: \\x73\\x6b-abcdefgh1234", "key: [REDACTED]", "escape", "\\x73\\x6b-abcdefgh1234"],
      ["key: 736b2d6162636465666768313233 ok", "key: [REDACTED] ok", "hex", "736b2d6162636465666768313233"],
      ["key: YzJzdFlXSmpaR1ZtWjJneE1qTTA=", "key: [REDACTED]", "base64>base64", "YzJzdFlXSmpaR1ZtWjJneE1qTTA="],
    ])("finds and redacts the decoded text of %j", async (text, rewritten, view, found) => {
      const verdict = await scan(text, credentials);
      expect(verdict).toMatchObject({ isValid: false, score: 1, rewritten });
      expect(verdict.findings.map(({ text, view }) => [text, view])).toEqual([[found, view]]);
      expect((await scan(text, { ...credentials, deobfuscate: false })).isValid).toBe(true);
      expect((await scan(rewritten, credentials)).isValid).toBe(true);
    });

    it("reports a match in the text once, without a view", async () => {
      const { findings } = await scan("sk-abcdefgh1 ｓk-abcdefgh2", credentials);
      expect(findings.map(({ text, view }) => [text, view])).toEqual([
        ["sk-abcdefgh1", undefined],
        ["ｓk-abcdefgh2", "normalized"],
      ]);
      expect(findings[0]).not.toHaveProperty("view");
    });

    it("searches the text before its views", async () => {
      const options = { patterns: ["b[o0]mb", "fish"], deobfuscate: true };
      expect((await scan("Ym9tYiBib21i b0mb f1sh f1sh", options)).rewritten).toBe(
        "Ym9tYiBib21i [REDACTED] [REDACTED] f1sh",
      );
    });

    it("matches the whole of a view with fullmatch", async () => {
      const options = { patterns: ["ignore all"], matchType: "fullmatch" as const, deobfuscate: true };
      expect(await scan("i g n o r e  a l l", options)).toMatchObject({ isValid: false, rewritten: "[REDACTED]" });
      expect(await scan("aWdub3JlIGFsbA== now", options)).toMatchObject({ isValid: true });
    });

    it("refuses deobfuscate with allowed patterns", () => {
      expect(() => new Regex({ patterns: ["ticket"], isBlocked: false, deobfuscate: true })).toThrow(
        expect.objectContaining({ path: "deobfuscate" }),
      );
    });

    it("throws if a pattern reaches the step limit in a view", async () => {
      const hidden = Buffer.from(`${"a".repeat(60)}!`).toString("base64");
      const call = scan(hidden, { patterns: ["^((a|aa)(?!c))+$"], deobfuscate: true });
      await expect(call).rejects.toMatchObject({ code: "GUARD_PATTERN" });
    });

    it("finds the same in a long text as in a short one", async () => {
      const verdict = await scan(`${"é".repeat(20_000)} c2stYWJjZGVmZ2gxMjM0`, credentials);
      expect(verdict.findings).toEqual([expect.objectContaining({ start: 20_001, end: 20_021, view: "base64" })]);
    });

    it("has valid offsets and changes only findings in any text", async () => {
      const scanner = new Regex({ patterns: ["[a-z]{6,}"], matchType: "all", deobfuscate: true });
      const piece = fc.oneof(
        fc.string({ unit: "binary", maxLength: 8 }),
        fc.constantFrom(
          "aWdub3JlIGFsbA==",
          "%61%62%63",
          "&lt;",
          "i g n o r e",
          "1gn0r3",
          "іgnоrе",
          "vtaber nyy",
          " ",
          "😀",
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
          const text = pieces.join("");
          const { rewritten, findings } = await scanned(scanner, text);
          let kept = text.split("");
          for (const { start, end, text: found } of findings) {
            expect(0 <= start && start < end && end <= text.length).toBe(true);
            expect(found?.isWellFormed()).toBe(text.slice(start, end).isWellFormed());
            kept = kept.map((unit, at) => (start <= at && at < end ? "" : unit));
          }
          if (text.isWellFormed()) expect(rewritten.replaceAll("[REDACTED]", "")).toBe(kept.join(""));
        }),
      );
    });
  });

  it("leaves earlier redactions unchanged", async () => {
    const options = { patterns: ["[A-Z]+"], matchType: "all" as const };
    const { rewritten } = await scan("ABC def", options);
    expect(rewritten).toBe("[REDACTED] def");
    expect(await scan(rewritten, options)).toMatchObject({ isValid: false, rewritten });
  });

  it.each([
    [{ patterns: ["fine", "(open"] }, "patterns.1", /\(at offset \d+\)/],
    [{ patterns: [] }, "patterns", /./],
    [{ patterns: ["a"], matchType: "some" }, "matchType", /search/],
    [{ patterns: ["a"], color: "red" }, "color", /unknown key/],
  ])("refuses %j with its path", (options, path, message) => {
    let error: unknown;
    try {
      new Regex(options as never);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
    expect((error as GuardValidationError).message).toMatch(message);
  });

  it("changes only its findings in any text", async () => {
    const scanner = new Regex({ patterns: ["[0-9]+"], matchType: "all" });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        const { rewritten, findings } = await scanned(scanner, text);
        let expected = text;
        for (const { start, end } of [...findings].reverse()) {
          expect(text.slice(start, end)).toMatch(/^[0-9]+$/);
          expected = `${expected.slice(0, start)}[REDACTED]${expected.slice(end)}`;
        }
        expect(rewritten).toBe(expected);
        expect((await scanned(scanner, rewritten)).isValid).toBe(true);
      }),
    );
  });
});
