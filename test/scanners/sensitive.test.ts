import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { Sensitive } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { personalTexts } from "../support/personal-texts.ts";
import { scanned } from "../support/rewritten.ts";

type Options = Omit<NonNullable<ConstructorParameters<typeof Sensitive>[0]>, "recognizerConf">;
const scannerWith = (options: Options = {}) => new Sensitive({ recognizerConf: [], ...options });

describe("Sensitive", () => {
  it("fails with findings, and rewrites only with redact", async () => {
    const text = "é😀 ann@example.com";
    const verdict = await scanned(scannerWith(), text);
    expect(verdict).toMatchObject({ isValid: false, score: 0.9 });
    expect(verdict).not.toHaveProperty("edits");
    expect(verdict.findings).toEqual([
      {
        start: 4,
        end: text.length,
        type: "personal_data",
        text: "ann@example.com",
        score: 0.95,
        label: "EMAIL_ADDRESS",
      },
    ]);
    expect([scannerWith().sanitizes, scannerWith({ redact: true }).sanitizes]).toEqual([false, true]);
  });

  it.each([
    ["Mail ann@example.com, card 4111 1111 1111 1111.", "Mail <EMAIL_ADDRESS>, card <CREDIT_CARD>."],
    ["Почта ivan@example.com, ИНН 7707083893", "Почта <EMAIL_ADDRESS>, ИНН <RU_INN>"],
    ["我的邮箱是li@example.cn。", "我的邮箱是<EMAIL_ADDRESS>。"],
    ["카드 4111111111111111로 결제, hong@example.com으로", "카드 <CREDIT_CARD>로 결제, <EMAIL_ADDRESS>으로"],
    ["His SSN is 536\u201122\u20118731.", "His SSN is <US_SSN>."],
    ["Mail _ann@example.com_ or **bob@example.com**", "Mail _<EMAIL_ADDRESS>_ or **<EMAIL_ADDRESS>**"],
    [
      "Paid by 4111111111111111/12/27 from http://192.168.0.17/2024",
      "Paid by <CREDIT_CARD>/12/27 from http://<IP_ADDRESS>/2024",
    ],
  ])("redacts %j", async (text, expected) => {
    const scanner = scannerWith({ redact: true });
    expect((await scanned(scanner, text)).rewritten).toBe(expected);
    expect(await scanned(scanner, expected)).toMatchObject({ isValid: true, score: -1 });
  });

  it("passes texts without personal data", async () => {
    for (const text of ["", " ", "The recipe needs 250 grams of flour.", "会议持续30分钟"]) {
      expect(await scanned(scannerWith({ redact: true }), text)).toMatchObject({
        isValid: true,
        score: -1,
        findings: [],
      });
    }
  });

  it("accepts types, patterns, recognizers, a threshold and a language", async () => {
    const redacted = async (text: string, options: Options) =>
      (await scanned(scannerWith({ redact: true, ...options }), text)).rewritten;
    const text = "me@example.org, 4111111111111111, E-12345";
    const regexPatterns = [{ name: "staff", expressions: ["\\bE-\\d{5}\\b"] }];
    expect(await redacted(text, { entityTypes: ["CREDIT_CARD"], regexPatterns })).toBe(
      "me@example.org, <CREDIT_CARD>, <STAFF>",
    );
    const recognizers = [() => [{ start: 0, end: 3, type: "PERSON" }]];
    expect(await redacted("Ann", { recognizers })).toBe("<PERSON>");
    expect(await redacted("from 203.0.113.17", { threshold: 0.99 })).toBe("from 203.0.113.17");
    expect(await redacted("ИНН 7707083893", { language: "de" })).toBe("ИНН 7707083893");
    const scanner = createScanner("output", "Sensitive", {
      recognizer_conf: [],
      entity_types: ["EMAIL_ADDRESS"],
      redact: true,
    });
    expect((await scanned(scanner, text, {})).rewritten).toBe("<EMAIL_ADDRESS>, 4111111111111111, E-12345");
  });

  it("refuses types that nothing finds", () => {
    expect(() => scannerWith({ entityTypes: ["PERSON"] })).toThrow(GuardValidationError);
    expect(() => scannerWith({ entityTypes: ["PERSON"] })).toThrow("nothing finds PERSON: it needs a model");
  });

  it("ignores fakes of the vault", async () => {
    const vault = new Vault();
    const anonymize = new Anonymize({ recognizerConf: [], useFaker: true });
    const { rewritten } = await scanned(anonymize, "me@corp.io paid with 4111111111111111", { vault });
    expect(await scanned(scannerWith(), rewritten, { vault })).toMatchObject({ isValid: true });
    expect(await scanned(scannerWith(), `${rewritten}, you@corp.io`, { vault })).toMatchObject({ isValid: false });
    expect(await scanned(scannerWith(), rewritten)).toMatchObject({ isValid: false });
  });

  it("redacts all findings in texts of three languages, also in long ones", async () => {
    const scanner = scannerWith({ redact: true });
    const all = [...personalTexts(200, 3)];
    const cases = [
      ...all,
      { text: all.map(({ text }) => text).join("\n"), values: all.flatMap(({ values }) => values) },
    ];
    for (const { text, values } of cases) {
      const { rewritten } = await scanned(scanner, text);
      for (const value of values) expect(rewritten).not.toContain(value);
    }
  });

  it("has valid offsets in any text", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom("ann@example.com", "203.0.113.17 ", "😀"),
    );
    const scanner = scannerWith({ redact: true });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (pieces) => {
        const text = pieces.join("");
        const { findings, rewritten } = await scanned(scanner, text);
        let expected = "";
        let last = 0;
        for (const { start, end, text: found, label } of findings) {
          expect(text.slice(start, end)).toBe(found);
          expected += `${text.slice(last, start)}<${label}>`;
          last = end;
        }
        expect(rewritten).toBe(expected + text.slice(last));
      }),
      { numRuns: 200 },
    );
  });
});
