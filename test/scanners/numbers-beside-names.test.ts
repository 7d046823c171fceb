import { describe, expect, it } from "vitest";
import { Vault } from "../../src/scan/vault.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize, Sensitive } from "../../src/scanners/generated/output-scanners.ts";
import { scanned } from "../support/rewritten.ts";

type Options = Omit<NonNullable<ConstructorParameters<typeof Anonymize>[0]>, "recognizerConf">;
async function mask(text: string, options: Options = {}, vault = new Vault()) {
  const { rewritten } = await scanned(new Anonymize({ recognizerConf: [], ...options }), text, { vault });
  return rewritten;
}

describe("a number beside its own name", () => {
  it.each([
    ["Mein Fødselsnummer: 15108695088", "Mein Fødselsnummer: [REDACTED_NATIONAL_ID_1]"],
    ["The NPI of my doctor is 1234567893.", "The NPI of my doctor is [REDACTED_MEDICAL_LICENSE_1]."],
    ["個人番号は123456789018です", "個人番号は[REDACTED_NATIONAL_ID_1]です"],
    ["الرقم القومي: ٢٩٠٠٧٠١٢١٠٤٥٦٧", "الرقم القومي: [REDACTED_NATIONAL_ID_1]"],
    ["Kontonummer 4285193064, BLZ 37040044", "Kontonummer [REDACTED_BANK_ACCOUNT_1], BLZ [REDACTED_BANK_CODE_1]"],
    ['{"tax_id": "4285193064"}', '{"tax_id": "[REDACTED_TAX_ID_1]"}'],
  ])("is replaced in %j", async (text, expected) => {
    expect(await mask(text)).toBe(expected);
  });

  it.each([
    "The passport costs 12345 dollars.",
    "Tax ID for 2024",
    "pin 4821 of the connector",
    "Coupon valid thru 12/27",
    "Order number 1234567893",
  ])("is not %j", async (text) => {
    expect(await mask(text)).toBe(text);
  });
});

describe("a wrong checksum", () => {
  const text = "PESEL 44051401358, 44051401358";

  it("is accepted beside the name, with less certainty", async () => {
    const { findings } = await scanned(new Sensitive({ recognizerConf: [] }), text);
    expect(findings).toEqual([
      {
        ...{ start: 6, end: 17, type: "personal_data", text: "44051401358", score: 0.7 },
        ...{ label: "PL_PESEL", evidence: "form-only" },
      },
    ]);
  });

  it("is rejected with checksum: strict", async () => {
    expect(await mask(text, { checksum: "strict" })).toBe(text);
    expect(await mask("PESEL 44051401359", { checksum: "strict" })).toBe("PESEL [REDACTED_PL_PESEL_1]");
    expect(await mask("card number 4567 8901 2345 6789", { checksum: "strict" })).toBe(
      "card number 4567 8901 2345 6789",
    );
  });
});

describe("numbers of JSON", () => {
  const text = '{"phone": 4155550132, "cards": [4539148803436467, 4539148803436467], "n": 1}';

  it("become strings, and stay valid JSON when they are restored", async () => {
    const vault = new Vault();
    const masked = await mask(text, {}, vault);
    expect(JSON.parse(masked)).toEqual({
      phone: "[REDACTED_PHONE_NUMBER_1]",
      cards: ["[REDACTED_CREDIT_CARD_1]", "[REDACTED_CREDIT_CARD_1]"],
      n: 1,
    });
    const { rewritten } = await scanned(new Deanonymize({ vault }), masked);
    expect(JSON.parse(rewritten)).toMatchObject({ phone: "4155550132" });
  });

  it("stay numbers with invented values", async () => {
    const masked = JSON.parse(await mask(text, { useFaker: true }));
    expect(masked.cards[0]).toBeTypeOf("number");
    expect(masked.cards[0]).not.toBe(4539148803436467);
  });

  it("are redacted as strings", async () => {
    const { rewritten } = await scanned(new Sensitive({ recognizerConf: [], redact: true }), text);
    expect(JSON.parse(rewritten).phone).toBe("<PHONE_NUMBER>");
  });
});
