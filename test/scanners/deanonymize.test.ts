import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Vault, type VaultEntry } from "../../src/scan/vault.ts";
import { createScanner } from "../../src/scanners/catalog.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { scanned } from "../support/rewritten.ts";

const PEOPLE: VaultEntry[] = [
  ["[REDACTED_PERSON_1]", "Ann [REDACTED_PERSON_10]"],
  ["[REDACTED_PERSON_10]", "Zoë 😀"],
  ["Keanu Reeves", "John Doe"],
];
const restore = async (text: string, matchingStrategy: string = "exact", pairs = PEOPLE) => {
  const scanner = new Deanonymize({ vault: new Vault(pairs), matchingStrategy: matchingStrategy as never });
  const { rewritten } = await scanned(scanner, text);
  return rewritten;
};

describe("Deanonymize", () => {
  it("restores in one pass, longer placeholders first", async () => {
    expect(await restore("Hi [REDACTED_PERSON_10], é [REDACTED_PERSON_1]")).toBe(
      "Hi Zoë 😀, é Ann [REDACTED_PERSON_10]",
    );
    expect(await restore("[redacted_person_1]")).toBe("[redacted_person_1]");
  });

  it("keeps JSON valid, even with quotes and line breaks in originals", async () => {
    const name = 'Ann "the Boss" O\\Neil\nof York';
    const pairs: VaultEntry[] = [["[REDACTED_PERSON_1]", name]];
    const answer = (name: string) => [
      { "the name": `Hi ${name}!`, [name]: [1.0, name, { inner: JSON.stringify({ name: "x" }) }] },
    ];
    const text = JSON.stringify(answer("[REDACTED_PERSON_1]"), null, 2);
    expect(JSON.parse(await restore(`\n${text}`, "exact", pairs))).toEqual(answer(name));
    for (const prose of ["[REDACTED_PERSON_1]", '{"a": [REDACTED_PERSON_1]}', `Here it is: ${text}`]) {
      expect(await restore(prose, "exact", pairs)).toBe(prose.replaceAll("[REDACTED_PERSON_1]", name));
    }
  });

  it.each([
    // Markdown
    ["\\[REDACTED\\_PERSON\\_1\\] and [REDACTED\\_PERSON\\_1]", 'Ann "A" & Co and Ann "A" & Co'],
    ["**\\[REDACTED_PERSON_1\\]**", '**Ann "A" & Co**'],
    // HTML
    [
      "<b>&#91;REDACTED_PERSON_1&#93;</b> &#x5b;REDACTED_PERSON_1&#x5D;",
      "<b>Ann &quot;A&quot; &amp; Co</b> &#x5b;REDACTED_PERSON_1&#x5D;",
    ],
    [
      "&#x5B;REDACTED_PERSON_1&#x5D; &lsqb;REDACTED_PERSON_1&rsqb;",
      "Ann &quot;A&quot; &amp; Co Ann &quot;A&quot; &amp; Co",
    ],
    ["&lt;NAME_2&gt;", "Zoë"],
    // URLs
    ["https://x.example/?q=%5BREDACTED_PERSON_1%5D", "https://x.example/?q=Ann%20%22A%22%20%26%20Co"],
    [
      "mailto:x?subject=%5bREDACTED_PERSON_1%5d&to=Keanu%20Reeves+Keanu+Reeves",
      "mailto:x?subject=Ann%20%22A%22%20%26%20Co&to=John%20Doe+John%20Doe",
    ],
    // JSON
    [
      '{"a": "\\u005bREDACTED_PERSON_1\\u005D \\u005BREDACTED_PERSON_1\\u005D"}',
      '{"a": "\\u005bREDACTED_PERSON_1\\u005D Ann \\"A\\" & Co"}',
    ],
    [
      '{"md": "\\\\[REDACTED\\\\_PERSON\\\\_1\\\\]", "u": "%5BREDACTED_PERSON_1%5D"}',
      '{"md": "Ann \\"A\\" & Co", "u": "Ann%20%22A%22%20%26%20Co"}',
    ],
    // Text that only looks escaped
    ["a \\_ b & c 100%25 [REDACTED_PERSON_1]", 'a \\_ b & c 100%25 Ann "A" & Co'],
  ])("restores escaped placeholders in %j", async (text, expected) => {
    const pairs: VaultEntry[] = [
      ["[REDACTED_PERSON_1]", 'Ann "A" & Co'],
      ["<NAME_2>", "Zoë"],
      ["Keanu Reeves", "John Doe"],
    ];
    for (const strategy of ["exact", "case_insensitive"]) {
      const restored = await restore(text, strategy, pairs);
      if (strategy === "exact") expect(restored).toBe(expected);
      else expect(restored).not.toMatch(/REDACTED|NAME_2/);
    }
  });

  it("names placeholders in findings, never originals", async () => {
    const text = "é😀 [redacted_PERSON_1]";
    const verdict = await scanned(
      new Deanonymize({ vault: new Vault(PEOPLE), matchingStrategy: "case_insensitive" }),
      text,
    );
    expect(verdict).toMatchObject({ isValid: true, score: -1, rewritten: "é😀 Ann [REDACTED_PERSON_10]" });
    expect(verdict.findings).toEqual([
      { start: 4, end: 23, type: "placeholder", text: "[redacted_PERSON_1]", score: 1, label: "[REDACTED_PERSON_1]" },
    ]);
  });

  it.each(["fuzzy", "combined_exact_fuzzy"])("%s accepts errors, but none in digits", async (strategy) => {
    expect(await restore("Is Kaenu Reves [REDACTED PERSON_1]?", strategy)).toBe(
      "Is John Doe Ann [REDACTED_PERSON_10]?",
    );
    expect(await restore("[REDACTED_PERSON_2] [REDACTED_PERSON_100]", strategy)).toBe(
      "[REDACTED_PERSON_2] [REDACTED_PERSON_100]",
    );
    expect(await restore("Bob", strategy, [["Ann", "secret"]])).toBe("Bob");
  });

  it("reads the vault at every scan", async () => {
    const vault = new Vault();
    const scanner = new Deanonymize({ vault });
    expect(await scanned(scanner, "[X_1]")).not.toHaveProperty("edits");
    vault.append(["[X_1]", "value"]);
    expect((await scanned(scanner, "[X_1]")).rewritten).toBe("value");
  });

  it("restores a thousand placeholders in a long text", async () => {
    const pairs = Array.from({ length: 1000 }, (_, n): VaultEntry => [`[REDACTED_URL_${n}]`, `u${n}`]);
    const text = pairs
      .map(([placeholder]) => `ж ${placeholder}`)
      .join(" ")
      .repeat(40);
    const expected = pairs
      .map(([, original]) => `ж ${original}`)
      .join(" ")
      .repeat(40);
    for (const strategy of ["exact", "case_insensitive", "fuzzy"]) {
      expect(
        await restore(
          strategy === "exact" ? text : text.replaceAll("_URL", "_URl"),
          strategy === "exact" ? strategy : strategy,
          pairs,
        ),
      ).toBe(expected);
    }
  }, 60_000);

  it("uses the vault of the call without a vault of its own", async () => {
    const context = { vault: new Vault([["[X_1]", "of the call"]]) };
    const scanner = createScanner("output", "Deanonymize", { matching_strategy: "case_insensitive" });
    expect((await scanned(scanner, "[x_1]", context)).rewritten).toBe("of the call");
    const own = new Deanonymize({ vault: new Vault([["[X_1]", "its own"]]) });
    expect((await scanned(own, "[X_1]", context)).rewritten).toBe("its own");
    expect([scanner.vaultScope, own.vaultScope]).toEqual(["call", "own"]);
  });

  it("restores nothing without a vault", async () => {
    const verdict = await scanned(new Deanonymize(), "[X_1]");
    expect(verdict).toMatchObject({ isValid: true, score: -1, findings: [] });
    expect(verdict).not.toHaveProperty("edits");
  });

  it.each(["vault.yml", {}, null, [["[X_1]", "value"]]])("accepts no vault from a file: %j", (vault) => {
    const make = () => createScanner("output", "Deanonymize", { vault });
    expect(make).toThrow(GuardValidationError);
    expect(make).toThrow(/vault: expected the Vault/);
  });

  it("changes only placeholders in any text", async () => {
    const pairs: VaultEntry[] = [
      ["a", "b"],
      ["bb", "a"],
      ["é😀", "x"],
    ];
    const part = fc.constantFrom("a", "b", "é", "😀", "A", " ", "é😀");
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        const text = parts.join("");
        const expected = text.replace(
          /bb|a|é😀/gu,
          (found) => pairs.find(([placeholder]) => placeholder === found)?.[1] ?? "",
        );
        expect(await restore(text, "exact", pairs)).toBe(expected);
      }),
    );
  });

  it("finds the same in short texts and in long ones, which the addon searches", async () => {
    const part = fc.constantFrom("a", "b", "ab", "ba", "aba", "é", "😀", " ", "\u{fffd}");
    const some = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 30 }),
        fc.array(some, { minLength: 1, maxLength: 5 }),
        async (parts, names) => {
          const vault = new Vault(names.map((name, index) => [name, `<${index}>`]));
          const scanner = new Deanonymize({ vault });
          const text = parts.join("");
          const tail = "-".repeat(400_001);
          const [short, long] = [await scanned(scanner, text), await scanned(scanner, text + tail)];
          expect(long.findings).toEqual(short.findings);
          expect(long.rewritten).toBe(short.rewritten + tail);
        },
      ),
      { numRuns: 30 },
    );
  });
});
