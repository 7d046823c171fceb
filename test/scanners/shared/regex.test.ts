import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GuardValidationError } from "../../../src/errors.ts";
import { Regex } from "../../../src/scanners/shared/regex.ts";

const scan = (text: string, options: ConstructorParameters<typeof Regex>[0]) => new Regex(options).scan(text);

describe("Regex", () => {
  it("redacts the first match only, unless all are asked for", async () => {
    const text = "Bearer abc123 and Bearer def456";
    const patterns = ["Bearer [a-z0-9]+"];
    expect(await scan(text, { patterns })).toMatchObject({
      isValid: false,
      score: 1,
      sanitized: "[REDACTED] and Bearer def456",
    });
    expect(await scan(text, { patterns, matchType: "all" })).toMatchObject({ sanitized: "[REDACTED] and [REDACTED]" });
  });

  it("matches the whole text where asked to", async () => {
    const options = { patterns: ["a|ab"], matchType: "fullmatch" as const };
    expect(await scan("ab", options)).toMatchObject({ isValid: false, sanitized: "[REDACTED]" });
    expect(await scan("abc", options)).toMatchObject({ isValid: true, score: -1 });
  });

  it("lets only matching texts pass when patterns are allowed", async () => {
    const options = { patterns: ["^ticket \\d+"], isBlocked: false };
    expect(await scan("ticket 42: broken", options)).toEqual(expect.objectContaining({ isValid: true, score: -1 }));
    const failed = await scan("hello", options);
    expect(failed).toMatchObject({ isValid: false, score: 1 });
    expect(failed).not.toHaveProperty("sanitized");
  });

  it("applies every pattern and says where each matched, in UTF-16 code units", async () => {
    const { findings, sanitized } = await scan("😀 id 12, mail a@b.c", { patterns: ["\\d+", "\\S+@\\S+"] });
    expect(findings.map(({ start, end, text, label }) => [start, end, text, label])).toEqual([
      [6, 8, "12", "\\d+"],
      [15, 20, "a@b.c", "\\S+@\\S+"],
    ]);
    expect(sanitized).toBe("😀 id [REDACTED], mail [REDACTED]");
  });

  it("keeps the text when redact is off", async () => {
    const verdict = await scan("secret", { patterns: ["secret"], redact: false });
    expect(verdict.isValid).toBe(false);
    expect(verdict).not.toHaveProperty("sanitized");
  });

  it("knows look-around and back-references", async () => {
    expect(await scan("price 100 EUR", { patterns: ["\\d+(?= EUR)"] })).toMatchObject({
      sanitized: "price [REDACTED] EUR",
    });
    expect(await scan("the the cat", { patterns: ["\\b(\\w+) \\1\\b"] })).toMatchObject({
      sanitized: "[REDACTED] cat",
    });
  });

  it("throws instead of passing a text that a pattern cannot be decided on", async () => {
    const call = scan(`${"a".repeat(60)}!`, { patterns: ["fine", "^((a|aa)(?!c))+$"] });
    await expect(call).rejects.toMatchObject({
      code: "GUARD_PATTERN",
      message: expect.stringMatching(/^patterns\.1: /),
    });
  });

  it("finds the same in a long text as in a short one", async () => {
    const verdict = await scan(`${"é".repeat(20_000)} 555-1234`, { patterns: ["\\d{3}-\\d{4}"] });
    expect(verdict.findings[0]).toMatchObject({ start: 20_001, end: 20_009 });
    expect(verdict.sanitized?.endsWith("é [REDACTED]")).toBe(true);
  });

  it.each([
    [{ patterns: ["fine", "(open"] }, "patterns.1", /\(at offset \d+\)/],
    [{ patterns: [] }, "patterns", /./],
    [{ patterns: ["a"], matchType: "some" }, "matchType", /search/],
    [{ patterns: ["a"], color: "red" }, "color", /unknown key/],
  ])("refuses %j with the path of the value", (options, path, message) => {
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

  it("changes nothing but what it found, in any text", async () => {
    const scanner = new Regex({ patterns: ["[0-9]+"], matchType: "all" });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        const { sanitized = text, findings } = await scanner.scan(text);
        let expected = text;
        for (const { start, end } of [...findings].reverse()) {
          expect(text.slice(start, end)).toMatch(/^[0-9]+$/);
          expected = `${expected.slice(0, start)}[REDACTED]${expected.slice(end)}`;
        }
        expect(sanitized).toBe(expected);
        expect((await scanner.scan(sanitized)).isValid).toBe(true);
      }),
    );
  });
});
