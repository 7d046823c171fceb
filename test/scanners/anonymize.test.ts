import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanConversation } from "../../src/conversation/scan-conversation.ts";
import { scanOutput, scanPrompt } from "../../src/conversation/single-text.ts";
import { Vault } from "../../src/scan/vault.ts";
import { VerdictCache } from "../../src/scan/verdict-cache.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { Anonymize } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { personalTexts } from "../support/personal-texts.ts";
import { scanned } from "../support/rewritten.ts";
import { issuesOf } from "../support/validation-issues.ts";

type Options = Omit<NonNullable<ConstructorParameters<typeof Anonymize>[0]>, "recognizerConf">;

const scannerWith = (options: Options = {}) => new Anonymize({ recognizerConf: [], ...options });
async function mask(text: string, options: Options = {}, vault = new Vault()) {
  const { rewritten } = await scanned(scannerWith(options), text, { vault });
  return { text: rewritten, vault };
}
async function restore(text: string, vault: Vault) {
  const { rewritten } = await scanned(new Deanonymize({ vault }), text);
  return rewritten;
}

describe("placeholders", () => {
  it("are the same for the same value", async () => {
    const { text, vault } = await mask(
      "Mail ann@example.com, bob@example.com or ann@example.com; card 4111 1111 1111 1111.",
    );
    expect(text).toBe(
      "Mail [REDACTED_EMAIL_ADDRESS_1], [REDACTED_EMAIL_ADDRESS_2] or [REDACTED_EMAIL_ADDRESS_1]; card [REDACTED_CREDIT_CARD_1].",
    );
    expect(vault.entries()).toEqual([
      ["[REDACTED_EMAIL_ADDRESS_1]", "ann@example.com"],
      ["[REDACTED_EMAIL_ADDRESS_2]", "bob@example.com"],
      ["[REDACTED_CREDIT_CARD_1]", "4111 1111 1111 1111"],
    ]);
  });

  it.each([
    ["Почта ivan@example.com, ИНН 7707083893", "Почта [REDACTED_EMAIL_ADDRESS_1], ИНН [REDACTED_RU_INN_1]"],
    ["我的邮箱是li@example.cn。", "我的邮箱是[REDACTED_EMAIL_ADDRESS_1]。"],
    ["😀 ann@example.com 😀", "😀 [REDACTED_EMAIL_ADDRESS_1] 😀"],
  ])("in %j", async (text, expected) => {
    expect((await mask(text)).text).toBe(expected);
  });

  it("continue the numbers of the vault", async () => {
    const vault = new Vault([
      ["[REDACTED_EMAIL_ADDRESS_7]", "ann@example.com"],
      ["[REDACTED_US_SSN_9]", "bob@example.com"],
    ]);
    const { text } = await mask("ann@example.com bob@example.com", {}, vault);
    expect(text).toBe("[REDACTED_EMAIL_ADDRESS_7] [REDACTED_EMAIL_ADDRESS_8]");
  });

  it("never occur in the text, in any spelling", async () => {
    const own =
      "[REDACTED_EMAIL_ADDRESS_1], [redacted_email_address_2], [REDACTED_EMAIL_ADDRESS_4000000], (redacted_phone_number_1)";
    const { text, vault } = await mask(`${own} ann@example.com`);
    expect(text).toBe(`${own} [REDACTED_EMAIL_ADDRESS_3]`);
    expect(await restore(text, vault)).toBe(`${own} ann@example.com`);
  });

  it("are unchanged by a second scan, and by names and patterns that they contain", async () => {
    const options = {
      hiddenNames: ["redacted", "email"],
      regexPatterns: [{ name: "letters", expressions: ["[A-Z_]{5,}"], score: 1 }],
    };
    const first = await mask("EVERYBODY: ann@example.com, Email 4111111111111111", options);
    expect(first.text).toMatch(/^\[REDACTED_LETTERS_1\]: \[REDACTED_EMAIL_ADDRESS_1\], \[REDACTED_CUSTOM_1\] /);
    const size = first.vault.size;
    const again = await scanned(scannerWith(options), first.text, { vault: first.vault });
    expect(again).toMatchObject({ isValid: true, score: -1, findings: [] });
    expect(again).not.toHaveProperty("edits");
    expect(first.vault.size).toBe(size);
  });
});

describe("addresses and contact data", () => {
  it.each([
    [
      "The parcel is for Flat 9, 17 Birch Road, Durham DH1 4LX, thanks.",
      "The parcel is for [REDACTED_STREET_ADDRESS_1], thanks.",
    ],
    ["i live at 33 birch lane now", "i live at [REDACTED_STREET_ADDRESS_1] now"],
    [
      "Lieferung an Birkenweg 4b\n50859 Köln\nDeutschland\n\nDanke",
      "Lieferung an [REDACTED_STREET_ADDRESS_1]\n\nDanke",
    ],
    ['{"address": "Rua do Norte, 55, Apto 12, Recife - PE, 50030-230"}', '{"address": "[REDACTED_STREET_ADDRESS_1]"}'],
    ["Адрес: бул. Сливница 21, София", "Адрес: [REDACTED_STREET_ADDRESS_1]"],
    ["PO Box 77, Salem, OR 97301", "[REDACTED_STREET_ADDRESS_1]"],
    ["?to=mia.lang%40example.org&page=2", "?to=[REDACTED_EMAIL_ADDRESS_1]&page=2"],
    ["call (101) 204-3311", "call [REDACTED_PHONE_NUMBER_1]"],
  ])("are replaced as a whole in %j", async (text, expected) => {
    expect((await mask(text)).text).toBe(expected);
  });

  it.each([
    "5 reasons to cross the road, 12 ways to park and 3 places to eat",
    "The street has 12 houses, and the band played 40 songs in the park.",
    "git clone git@code.example.org:team/app.git && cp logo@2x.png .",
    "npm i chalk@5.3.0 vue@3.4.21-rc.next",
    "La calle tiene 30 casas; la rue compte 20 maisons; die Straße hat 5 Spuren.",
  ])("leave %j alone", async (text) => {
    expect((await mask(text)).text).toBe(text);
  });
});

describe("the verdict", () => {
  it("fails with the highest score and findings", async () => {
    const text = "é😀 ann@example.com";
    const verdict = await scanned(scannerWith({ threshold: 0.5 }), text);
    expect(verdict).toMatchObject({ isValid: false, score: 0.9, rewritten: "é😀 [REDACTED_EMAIL_ADDRESS_1]" });
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
  });

  it("is never a pass with findings", async () => {
    const recognizers = [() => [{ start: 0, end: 3, type: "PERSON", score: 0.5 }]];
    expect(await scanned(scannerWith({ recognizers }), "Ann")).toMatchObject({ isValid: false, score: 0.1 });
    expect(await scanned(scannerWith({ recognizers, threshold: 0.51 }), "Ann")).toMatchObject({
      isValid: true,
      score: -1,
    });
    expect(await scanned(scannerWith({ hiddenNames: ["Ann"], threshold: 1 }), "Ann")).toMatchObject({ isValid: false });
  });

  it("passes texts without personal data", async () => {
    for (const text of ["", " ", "The recipe needs 250 grams of flour.", "Встреча 12 марта", "会议持续30分钟"]) {
      expect(await scanned(scannerWith(), text)).toMatchObject({ isValid: true, score: -1, findings: [] });
    }
  });
});

describe("addresses", () => {
  it.each([
    "1600 Amphitheatre Parkway\nMountain View, CA 94043",
    "221B Baker Street\nLondon NW1 6XE\nUnited Kingdom",
    "ул. Ленина, д. 5, кв. 12, г. Москва, 101000",
    "Hauptstraße 12\n10115 Berlin\nDeutschland",
  ])("are replaced as a whole: %j", async (address) => {
    expect((await mask(`Send it to ${address}.\nThanks`)).text).toBe("Send it to [REDACTED_STREET_ADDRESS_1].\nThanks");
  });
});

describe("the options", () => {
  it("vault: its own vault takes precedence over that of the call", async () => {
    const [own, call] = [new Vault(), new Vault()];
    await scanned(scannerWith({ vault: own }), "ann@example.com", { vault: call });
    expect([own.size, call.size]).toEqual([1, 0]);
    expect([scannerWith({ vault: own }).vaultScope, scannerWith().vaultScope]).toEqual(["own", "call"]);
    await scanPrompt([scannerWith()], "ann@example.com", { vault: call });
    expect(call.size).toBe(1);
  });

  it("hiddenNames and allowedNames, in any case", async () => {
    const options = { hiddenNames: ["Project Aurora", "极光"], allowedNames: ["Info@Example.org"] };
    const { text } = await mask("PROJECT AURORA, auroras, 我们的极光项目, info@example.org, me@example.org", options);
    expect(text).toBe(
      "[REDACTED_CUSTOM_1], auroras, 我们的[REDACTED_CUSTOM_2]项目, info@example.org, [REDACTED_EMAIL_ADDRESS_1]",
    );
    expect(issuesOf(() => scannerWith({ hiddenNames: ["Ann"], allowedNames: ["Bob", "ann"] }))).toEqual([
      { path: "allowedNames.1", message: "is also one of hiddenNames" },
    ]);
  });

  it("entityTypes, which are kept, and the user's own types", async () => {
    const entityTypes = Object.freeze(["CREDIT_CARD"]) as string[];
    const regexPatterns = [{ name: "staff_id", expressions: ["\\bE-\\d{5}\\b"] }];
    const text = "me@example.org, 4111111111111111, E-12345, Aurora";
    const { text: masked } = await mask(text, { entityTypes, regexPatterns, hiddenNames: ["Aurora"] });
    expect(masked).toBe("me@example.org, [REDACTED_CREDIT_CARD_1], [REDACTED_STAFF_ID_1], [REDACTED_CUSTOM_1]");
    expect(entityTypes).toEqual(["CREDIT_CARD"]);
    expect((await mask("It costs $20.", {})).text).toBe("It costs $20.");
    expect((await mask("It costs $20.", { entityTypes: ["PRICE_RE"] })).text).toBe("It costs [REDACTED_PRICE_RE_1].");
  });

  it("all entityTypes, also those of llm-guard's patterns", async () => {
    const text = "On 12/31/2024 it cost $20 at https://example.com.";
    expect((await mask(text, {})).text).toBe(text);
    expect((await mask(text, { entityTypes: "all" })).text).not.toMatch(/2024|20|example/);
    expect(issuesOf(() => scannerWith({ entityTypes: "none" as never }))).toEqual([
      { path: "entityTypes", message: "must be all, got none" },
    ]);
  });

  it("entityTypes of ages, postal codes, domains and peoples, which are off by default", async () => {
    const text = "I'm a German citizen and I am 34 years old. ZIP: 94107. My shop is example-shop.io, and so on.";
    expect((await mask(text)).text).toBe(text);
    const entityTypes = ["AGE", "ZIP_CODE", "DOMAIN_NAME", "NRP"];
    expect((await mask(text, { entityTypes })).text).toBe(
      "I'm a [REDACTED_NRP_1] citizen and I am [REDACTED_AGE_1] years old. ZIP: [REDACTED_ZIP_CODE_1]. " +
        "My shop is [REDACTED_DOMAIN_NAME_1], and so on.",
    );
    expect((await mask(text, { entityTypes: "all" })).text).toContain("My shop is [REDACTED_DOMAIN_NAME_1], and");
    expect((await mask(text, { entityTypes: ["URL"] })).text).toContain("My shop is [REDACTED_URL_1], and");
  });

  it("entityTypes all uses one name for two types with the same meaning", async () => {
    const text = "Call 800-555-0199, or pay with 4111 1111 1111 1111.";
    expect((await mask(text, { entityTypes: "all" })).text).toBe(
      "Call [REDACTED_PHONE_NUMBER_1], or pay with [REDACTED_CREDIT_CARD_1].",
    );
    const forms = ["PHONE_NUMBER_WITH_EXT", "CREDIT_CARD_RE"];
    expect((await mask(text, { entityTypes: forms })).text).toBe(
      "Call [REDACTED_PHONE_NUMBER_WITH_EXT_1], or pay with [REDACTED_CREDIT_CARD_RE_1].",
    );
  });

  it("entityTypes that nothing finds are refused, unless a recognizer may find them", () => {
    expect(issuesOf(() => scannerWith({ entityTypes: ["CREDIT_CARD", "PERSON", "NOTHING"] }))).toEqual([
      { path: "entityTypes.1", message: "nothing finds PERSON: it needs a model" },
      {
        path: "entityTypes.2",
        message: expect.stringMatching(/^nothing finds NOTHING: it is unknown; known are: AGE, AU_ABN, .*, US_SSN, /),
      },
    ]);
    expect(scannerWith({ entityTypes: ["PERSON"], recognizers: [() => []] }).type).toBe("Anonymize");
  });

  it("recognizerConf [] runs no model", () => {
    expect(createScanner("input", "Anonymize", { recognizer_conf: [], use_onnx: true }).type).toBe("Anonymize");
  });

  it("preamble is inserted before a changed text", async () => {
    const options = { preamble: "Keep the placeholders. " };
    expect((await mask("ann@example.com", options)).text).toBe("Keep the placeholders. [REDACTED_EMAIL_ADDRESS_1]");
    expect((await mask("Ann", options)).text).toBe("Ann");
  });

  it("regexPatterns: context, score, languages and examples", async () => {
    const pattern = {
      name: "TICKET",
      expressions: ["\\bT\\d{4}\\b", "(?<=no )\\d{4}"],
      context: ["ticket"],
      score: 0.3,
    };
    const regexPatterns = [pattern];
    expect((await mask("ticket T1234, no 5678; T1234", { regexPatterns })).text).toContain(
      "ticket [REDACTED_TICKET_1]",
    );
    expect((await mask("T1234", { regexPatterns })).text).toBe("T1234");
    const russian = [{ ...pattern, score: 0.9, languages: ["ru"] }];
    expect((await mask("T1234", { regexPatterns: russian, language: "en" })).text).toBe("T1234");
    expect((await mask("T1234", { regexPatterns: russian, language: "ru" })).text).toBe("[REDACTED_TICKET_1]");

    const broken = { ...pattern, expressions: ["a", "("] };
    expect(issuesOf(() => scannerWith({ regexPatterns: [pattern, broken] }))[0]?.path).toBe(
      "regexPatterns.1.expressions.1",
    );
    expect(issuesOf(() => scannerWith({ regexPatterns: [{ ...pattern, examples: ["T1234", "T12"] }] }))).toEqual([
      { path: "regexPatterns.0.examples.1", message: "no expression matches it" },
    ]);
    expect(issuesOf(() => scannerWith({ regexPatterns: [{ ...pattern, name: "A]B" }] }))[0]?.path).toBe(
      "regexPatterns.0.name",
    );
    expect(issuesOf(() => scannerWith({ regexPatterns: [{ ...pattern, score: 2 }] }))[0]?.path).toBe(
      "regexPatterns.0.score",
    );
  });

  it("recognizers are merged with the others", async () => {
    const names = (text: string) =>
      [...text.matchAll(/Ann|Lee/g)].map(({ 0: found, index }) => ({
        start: index,
        end: index + found.length,
        type: "PERSON",
      }));
    const options = { recognizers: [names, async () => []], allowedNames: ["Lee"] };
    const { text } = await mask("😀 Ann wrote to ann@example.com and Lee", options);
    expect(text).toBe("😀 [REDACTED_PERSON_1] wrote to [REDACTED_EMAIL_ADDRESS_1] and Lee");
    const only = { ...options, entityTypes: ["EMAIL_ADDRESS"] };
    expect((await mask("Ann: ann@example.com", only)).text).toBe("Ann: [REDACTED_EMAIL_ADDRESS_1]");
    const own = { entityTypes: ["EMAIL_ADDRESS"], recognizers: [() => [{ start: 0, end: 3, type: "PET" }]] };
    expect((await mask("Rex", own)).text).toBe("[REDACTED_PET_1]");
  });

  it.each([
    ["beyond the text", [{ start: 0, end: 9, type: "X" }]],
    ["backwards", [{ start: 2, end: 1, type: "X" }]],
    ["no number", [{ start: "0", end: 1, type: "X" }]],
    ["no type", [{ start: 0, end: 1 }]],
    ["a type that breaks a placeholder", [{ start: 0, end: 1, type: "A]" }]],
    ["a score of 2", [{ start: 0, end: 1, type: "X", score: 2 }]],
    ["null", [null]],
    ["no list", 5],
  ])("a recognizer that returns %s makes the scan fail", async (_what, answer) => {
    await expect(scanned(scannerWith({ recognizers: [() => answer as never] }), "text")).rejects.toThrow();
  });

  it("a recognizer that throws makes the scan fail", async () => {
    const recognizers = [
      () => {
        throw new Error("broken");
      },
    ];
    await expect(scanned(scannerWith({ recognizers }), "text")).rejects.toThrow("broken");
  });

  it("threshold and language", async () => {
    expect((await mask("from 203.0.113.17", { threshold: 0.99 })).text).toBe("from 203.0.113.17");
    expect((await mask("ИНН 7707083893", { language: "ru" })).text).toBe("ИНН [REDACTED_RU_INN_1]");
    expect((await mask("ИНН 7707083893", { language: "de" })).text).toBe("ИНН 7707083893");
    expect(issuesOf(() => scannerWith({ language: "Deutsch" }))[0]?.path).toBe("language");
    expect(issuesOf(() => scannerWith({ threshold: 2 }))[0]?.path).toBe("threshold");
  });

  it("have names in snake_case too", async () => {
    const scanner = createScanner("input", "Anonymize", {
      recognizer_conf: [],
      hidden_names: ["Aurora"],
      allowed_names: ["a@example.org"],
      entity_types: ["EMAIL_ADDRESS"],
      regex_patterns: [{ name: "X", expressions: ["x1"] }],
      use_faker: false,
    });
    expect((await scanned(scanner, "Aurora a@example.org b@example.org x1", {})).rewritten).toBe(
      "[REDACTED_CUSTOM_1] a@example.org [REDACTED_EMAIL_ADDRESS_1] [REDACTED_X_1]",
    );
  });
});

describe("useFaker", () => {
  const fake = async (value: string, before = "", options: Options = {}) => {
    const { text, vault } = await mask(before + value, { useFaker: true, ...options });
    expect(text.startsWith(before)).toBe(true);
    expect(text).not.toContain(value);
    expect(await restore(text, vault)).toBe(before + value);
    return text.slice(before.length);
  };
  const digitsOf = (text: string) => text.replace(/\D/g, "");
  const shape = (text: string) => text.replace(/\d/g, "0").replace(/[a-z]/g, "a").replace(/[A-Z]/g, "A");

  it("creates card numbers that pass Luhn's check", async () => {
    const card = await fake("4111-1111 1111 1111", "card ");
    expect(shape(card)).toBe("0000-0000 0000 0000");
    expect(card).toMatch(/^41/);
    const sum = [...digitsOf(card)].reverse().reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
    expect(sum % 10).toBe(0);
  });

  it("creates IBANs of the same country that pass modulo 97", async () => {
    const iban = await fake("DE89 3704 0044 0532 0130 00", "IBAN ");
    expect(iban).toMatch(/^DE\d\d \d{4} \d{4} \d{4} \d{4} \d\d$/);
    const compact = iban.replaceAll(" ", "");
    const number = (compact.slice(4) + compact.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
      String(letter.charCodeAt(0) - 55),
    );
    expect(BigInt(number) % 97n).toBe(1n);
  });

  it("creates e-mail addresses, telephone numbers and others in their format", async () => {
    expect(await fake("ann@corp.io", "to ")).toMatch(/^[^\s@]+@example\.(com|net|org)$/);
    const phone = await fake("+7 495 637-58-05", "Телефон ");
    expect(phone).toMatch(/^\+7 49\d \d{3}-\d\d-\d\d$/);
    expect(shape(await fake("550e8400-e29b-41d4-a716-446655440000"))).toHaveLength(36);
    expect(await fake("203.0.113.17", "from ")).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(shape(await fake("7707083893", "ИНН "))).toBe("0000000000");
    expect(await fake("11010519491231002X", "身份证")).toMatch(/^\d{17}[\dX]$/);
  });

  it("creates groups of people of the same kind, and placeholders for unknown words", async () => {
    const options = { entityTypes: ["NRP"] } satisfies Options;
    const another = async (before: string, value: string) => {
      const { text, vault } = await mask(`${before}${value}.`, { useFaker: true, ...options });
      expect(await restore(text, vault)).toBe(`${before}${value}.`);
      return text.slice(before.length, -1);
    };
    expect(await another("I am ", "French")).toMatch(/^[A-Z][a-z]+an$/);
    expect(await another("many ", "Mexicans")).toMatch(/^[A-Z][a-z]+ans$/);
    expect(await another("a practicing ", "Muslim")).toMatch(
      /^(Anglican|Baptist|Buddhist|Catholic|Hindu|Lutheran|Methodist|Protestant|Sikh)$/,
    );
    expect(await another("He's a lifelong ", "socialist")).toMatch(/^[a-z]+$/);
    expect(await another("Гражданство: ", "российское")).toBe("[REDACTED_NRP_1]");
  });

  it("creates values that scanners take for real ones", async () => {
    const text =
      "card 4111111111111111, IBAN GB29 NWBK 6016 1331 9268 19, me@corp.io, call +1 212 555 0123, 身份证11010519491231002X";
    const before = await scanned(scannerWith(), text);
    const { text: masked } = await mask(text, { useFaker: true });
    const after = await scanned(scannerWith(), masked);
    expect(after.findings.map(({ label }) => label)).toEqual(before.findings.map(({ label }) => label));
    const values = (verdict: typeof before) => verdict.findings.map(({ text }) => text);
    expect(values(after).filter((value) => values(before).includes(value))).toEqual([]);
  });

  it("creates names in the language, or in the script of the value", async () => {
    const recognizers = [(text: string) => [{ start: 0, end: text.length, type: "PERSON" }]];
    expect(await fake("Ann Lee", "", { recognizers })).toMatch(/^[\p{Script=Latin}\P{L}]+$/u);
    expect(await fake("Иван Петров", "", { recognizers })).toMatch(/^[\p{Script=Cyrillic}\P{L}]+$/u);
    expect(await fake("王小明", "", { recognizers })).toMatch(/^[\p{Script=Han}\P{L}]+$/u);
    expect(await fake("Ann Lee", "", { recognizers, language: "ru" })).toMatch(/^[\p{Script=Cyrillic}\P{L}]+$/u);
  });

  it("uses placeholders for values without fakes", async () => {
    const options = {
      regexPatterns: [{ name: "STAFF", expressions: ["E-\\d+"] }],
      hiddenNames: ["Aurora"],
      useFaker: true,
    };
    const { text } = await mask("E-12345 Aurora", options);
    expect(text).toBe("[REDACTED_STAFF_1] [REDACTED_CUSTOM_1]");
  });

  it("creates addresses with a valid checksum", async () => {
    const address = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2";
    const { text } = await mask(address, { useFaker: true });
    expect(text).not.toBe(address);
    const again = await mask(text);
    expect(again.text).toBe("[REDACTED_CRYPTO_1]");
  });

  it("keeps one distinct fake per value in a vault", async () => {
    const vault = new Vault();
    const emails = Array.from({ length: 300 }, (_, index) => `user${index}@corp.io`);
    const first = (await mask(`${emails.join(" ")} ${emails[7]}`, { useFaker: true }, vault)).text.split(" ");
    expect(first[300]).toBe(first[7]);
    expect(new Set(first).size).toBe(300);
    const second = (await mask(`${emails[7]} new@corp.io`, { useFaker: true }, vault)).text.split(" ");
    expect(second[0]).toBe(first[7]);
    expect(first).not.toContain(second[1]);
    expect(vault.size).toBe(301);
  });

  it("never creates a value that is a part of the text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 100 }),
        async (numbers) => {
          const text = `ip ${numbers.map((number) => `203.0.113.${number}`).join(" ")} `;
          const { vault } = await mask(text, { useFaker: true });
          for (const [replacement] of vault.entries()) expect(text).not.toContain(replacement);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("changes nothing in a second scan", async () => {
    const { text, vault } = await mask("me@corp.io paid with 4111111111111111", { useFaker: true });
    expect((await mask(text, { useFaker: true }, vault)).text).toBe(text);
    expect((await mask(text, {}, vault)).text).toBe(text);
  });
});

describe("Deanonymize after Anonymize", () => {
  it.each([false, true])("restores 300 texts (useFaker: %s)", async (useFaker) => {
    const scanner = scannerWith({ useFaker });
    for (const { text, values } of personalTexts(300)) {
      const vault = new Vault();
      const { rewritten } = await scanned(scanner, text, { vault });
      for (const value of values) expect(rewritten, text).not.toContain(value);
      expect(await restore(rewritten, vault), text).toBe(text);
      expect((await scanned(scanner, rewritten, { vault })).edits, rewritten).toBeUndefined();
    }
  });

  it.each([false, true])("restores any text but JSON (useFaker: %s)", async (useFaker) => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(
        ...[
          "ann@example.com",
          "4111111111111111",
          "203.0.113.17",
          "[REDACTED_EMAIL_ADDRESS_1]",
          "[REDACTED_",
          "1]",
          "_1]",
        ],
        ...["Aurora", "ИНН 7707083893", "身份证11010519491231002X", "card ", "[", "]", "EMAIL_ADDRESS", "😀"],
      ),
    );
    const scanner = scannerWith({ useFaker, hiddenNames: ["Aurora", "a", "1"] });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const text = pieces.join("");
        // A number in JSON is restored as a string.
        fc.pre(!/(?:^|[[,:])\s*\[|"\s*:/.test(text));
        const vault = new Vault();
        const { rewritten, findings } = await scanned(scanner, text, { vault });
        for (const { start, end, text: found } of findings) expect(text.slice(start, end)).toBe(found);
        expect(await restore(rewritten, vault)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it("restores long texts, which are scanned off the event loop", async () => {
    const text = [...personalTexts(400, 7)].map(({ text }) => text).join("\n");
    for (const useFaker of [false, true]) {
      const { text: masked, vault } = await mask(text, { useFaker });
      expect(masked).not.toBe(text);
      expect(await restore(masked, vault)).toBe(text);
    }
  });
});

describe("a conversation", () => {
  it("keeps its numbers in later turns", async () => {
    const vault = new Vault();
    const scanners = [scannerWith()];
    const turn = async (...contents: string[]) => {
      const messages = contents.map((content) => ({ role: "user", content }));
      return (await scanConversation(scanners, messages, { vault })).sanitizedPrompt;
    };
    expect(await turn("I am ann@example.com")).toBe("I am [REDACTED_EMAIL_ADDRESS_1]");
    expect(await turn("I am ann@example.com", "bob@example.com knows ann@example.com")).toBe(
      "[REDACTED_EMAIL_ADDRESS_2] knows [REDACTED_EMAIL_ADDRESS_1]",
    );
    const { sanitizedOutput } = await scanOutput([new Deanonymize()], "", "Dear [REDACTED_EMAIL_ADDRESS_2]", { vault });
    expect(sanitizedOutput).toBe("Dear bob@example.com");
  });

  it.each([false, true])(
    "has one placeholder for each value when its texts are scanned at once (useFaker: %s)",
    async (useFaker) => {
      const vault = new Vault();
      const scanner = scannerWith({ useFaker });
      const texts = Array.from({ length: 40 }, (_, index) => `user${index % 10}@corp.io and ${index}@corp.io`);
      const masked = await Promise.all(texts.map(async (text) => (await scanned(scanner, text, { vault })).rewritten));
      const originals = vault.entries().map(([, original]) => original);
      expect(new Set(originals).size).toBe(originals.length);
      for (const [index, text] of texts.entries()) expect(await restore(masked[index] as string, vault)).toBe(text);
    },
  );

  it("takes time in its length, also if each message adds to the vault", async () => {
    const scanners = [scannerWith()];
    const mails = (message: number) =>
      Array.from({ length: 80 }, (_, index) => `u${message}.${index}@corp.io`).join(" ");
    const cpuOf = async (count: number) => {
      const messages = Array.from({ length: count }, (_, index) => ({ role: "user", content: mails(index) }));
      const vault = new Vault();
      const start = process.cpuUsage();
      const { sanitizedMessages } = await scanConversation(scanners, messages, { vault, verdicts: new VerdictCache() });
      const { user, system } = process.cpuUsage(start);
      expect(vault.size).toBe(80 * count);
      expect(JSON.stringify(sanitizedMessages)).not.toContain("@corp.io");
      return (user + system) / 1000;
    };
    await cpuOf(50);
    expect(await cpuOf(500)).toBeLessThan(3000);
  });

  it("without a vault cannot be restored", async () => {
    const scanner = scannerWith();
    for (const name of ["ann", "bob"]) {
      expect((await scanned(scanner, `${name}@example.com`)).rewritten).toBe("[REDACTED_EMAIL_ADDRESS_1]");
    }
  });
});
