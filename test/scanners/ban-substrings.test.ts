import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scannerClasses } from "../../src/scanners/catalog.ts";
import { differencesOf } from "../../src/scanners/difference.ts";
import { BanSubstrings } from "../../src/scanners/generated/input-scanners.ts";
import { scanned } from "../support/rewritten.ts";

const scan = (text: string, options: ConstructorParameters<typeof BanSubstrings>[0]) =>
  scanned(new BanSubstrings(options), text);

describe("BanSubstrings", () => {
  it("finds substrings whatever their case", async () => {
    expect(await scan("Install the RANSOMWARE now", { substrings: ["ransomware"] })).toMatchObject({
      isValid: false,
      score: 1,
    });
    expect(await scan("Запусти ПРИВЕТ", { substrings: ["привет"] })).toMatchObject({ isValid: false });
    expect(await scan("Hello", { substrings: ["hello"], caseSensitive: true })).toMatchObject({
      isValid: true,
      score: -1,
    });
  });

  it("matches special characters literally", async () => {
    const options = { substrings: ["a.b*c", "(x)", "$5"] };
    expect(await scan("aXbbbc x 5", options)).toMatchObject({ isValid: true });
    expect(await scan("costs $5", options)).toMatchObject({ isValid: false });
  });

  it("matches whole words with matchType word", async () => {
    const options = { substrings: ["cat"], matchType: "word" as const };
    expect((await scan("concatenate", options)).isValid).toBe(true);
    expect((await scan("the cat, asleep", options)).isValid).toBe(false);
  });

  it("says in a report on a configuration that redact leaves later occurrences, and what to use", () => {
    const told = (params: Record<string, unknown>) =>
      differencesOf(scannerClasses("input").get("BanSubstrings")?.definition.differences, params).join("\n");
    expect(told({ substrings: ["x"], redact: true })).toMatch(/first occurrence.*redact_all/);
    expect(told({ substrings: ["x"], redact: true, redact_all: true })).not.toMatch(/first occurrence/);
  });

  it("redacts the first occurrence of each substring, or all of them", async () => {
    const text = "Foo and bar and foo";
    const substrings = ["foo", "bar"];
    expect((await scan(text, { substrings, redact: true })).rewritten).toBe("[REDACTED] and [REDACTED] and foo");
    expect((await scan(text, { substrings, redactAll: true })).rewritten).toBe(
      "[REDACTED] and [REDACTED] and [REDACTED]",
    );
    expect(await scan(text, { substrings })).not.toHaveProperty("edits");
  });

  it("requires all substrings with containsAll", async () => {
    const options = { substrings: ["red", "blue"], containsAll: true, redact: true };
    expect(await scan("red only", options)).toEqual(
      expect.objectContaining({ isValid: true, score: -1, findings: [] }),
    );
    expect((await scan("red and blue", options)).rewritten).toBe("[REDACTED] and [REDACTED]");
  });

  it("finds the same in a long text as in a short one", async () => {
    const text = `${"ж".repeat(50_000)} password`;
    expect((await scan(text, { substrings: ["Password"] })).findings[0]).toMatchObject({
      start: 50_001,
      text: "password",
    });
  });

  describe("with deobfuscate", () => {
    it.each([
      ["Tell me about r4ns0mw4re.", "Tell me about [REDACTED].", "leetspeak"],
      ["Tell me about r a n s o m w a r e.", "Tell me about [REDACTED].", "spaced"],
      ["Tell me about rаnsоmwаrе.", "Tell me about [REDACTED].", "normalized"],
      ["Tell me about enafbzjner abj cyrnfr.", "Tell me about [REDACTED] abj cyrnfr.", "rot13"],
      ["Tell me about cmFuc29td2FyZSBub3c=.", "Tell me about [REDACTED].", "base64"],
      ["Tell me about OJQW443PNV3WC4TFEBXG65Y=.", "Tell me about [REDACTED].", "base32"],
      ["Tell me about .-. .- -. ... --- -- .-- .- .-. .", "Tell me about [REDACTED]", "morse"],
      ["Tell me about erawmosnar gnitirw fo yaw eht.", "Tell me about [REDACTED] gnitirw fo yaw eht.", "reversed"],
    ])("finds a word in %j", async (text, rewritten, view) => {
      const verdict = await scan(text, { substrings: ["ransomware"], redactAll: true, deobfuscate: true });
      expect(verdict).toMatchObject({ isValid: false, rewritten, findings: [{ label: "ransomware", view }] });
      expect((await scan(text, { substrings: ["ransomware"] })).isValid).toBe(true);
    });

    it.each([
      ["bomb and b0mb", "[REDACTED] and b0mb"],
      ["b0mb and bomb", "[REDACTED] and bomb"],
      ["b o m b, b0mb, bomb", "[REDACTED], b0mb, bomb"],
      ["Ym9tYiBib21iIGJvbWI= then bomb", "[REDACTED] then bomb"],
      ["bomb then Ym9tYiBib21iIGJvbWI=", "[REDACTED] then Ym9tYiBib21iIGJvbWI="],
      ["plan, b0mb, p1an, bomb", "[REDACTED], [REDACTED], p1an, bomb"],
      ["p1an, bomb, plan, b0mb", "[REDACTED], [REDACTED], plan, b0mb"],
    ])("redacts the first of each in %j, disguised or not", async (text, rewritten) => {
      const substrings = ["bomb", "plan"];
      expect((await scan(text, { substrings, redact: true, deobfuscate: true })).rewritten).toBe(rewritten);
    });

    it("redacts the first of plain and disguised occurrences in any order", async () => {
      const written = fc.constantFrom(
        "ransomware",
        "r4ns0mw4re",
        "rаnsоmwаrе",
        "cmFuc29td2FyZSBub3c=",
        "ransom\u200bware",
      );
      await fc.assert(
        fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 4 }), async ([first, ...rest]) => {
          const text = ["Tell me about", first, "and about", ...rest.flatMap((word) => [word, "too"])].join(" ");
          const options = { substrings: ["ransomware"], redact: true, deobfuscate: true };
          expect((await scan(text, options)).rewritten).toBe(text.replace(first as string, "[REDACTED]"));
        }),
        { numRuns: 40 },
      );
    });

    it("finds all substrings, some in the text and some in its views", async () => {
      const options = { substrings: ["red", "blue"], containsAll: true, redact: true, deobfuscate: true };
      expect((await scan("red and b1ue", options)).rewritten).toBe("[REDACTED] and [REDACTED]");
      expect((await scan("red and green", options)).isValid).toBe(true);
    });

    it("ignores other languages and ordinary writing", async () => {
      // Written in Cyrillic, these look like "cop" and "pop"; rot13 of "green" is "terra".
      const options = { substrings: ["cop", "pop", "terra", "ass"], deobfuscate: true };
      for (const text of [
        "Вынесли сор из избы, а рор не видели.",
        "The green a55 road, 4 s 5",
        "Версия 1.5.5: готово",
      ]) {
        expect(await scan(text, options)).toMatchObject({ isValid: true });
      }
    });
  });

  it.each([{ substrings: [] }, { substrings: [""] }, {}])("refuses %j", (options) => {
    expect(() => new BanSubstrings(options as never)).toThrow(/substrings/);
  });

  it("has valid findings in any text", async () => {
    const scanner = new BanSubstrings({ substrings: ["a", "é", "😀"], redactAll: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "A", "é", "É", "😀", "x", "́", "\r\n", "ß"), { maxLength: 30 }),
        async (parts) => {
          // An "a" with a combining accent is another letter.
          const text = parts.join("");
          const { findings, rewritten } = await scanned(scanner, text);
          for (const { start, end, label } of findings) expect(text.slice(start, end).toLowerCase()).toBe(label);
          const left = text.normalize("NFC").replace(/[aA]|é|É|😀/gu, "");
          expect(rewritten.replaceAll("[REDACTED]", "").normalize("NFC")).toBe(left.normalize("NFC"));
        },
      ),
    );
  });
});
