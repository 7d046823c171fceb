import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BanCompetitors } from "../../src/scanners/generated/input-scanners.ts";
import { exclusiveClassifier, multitaskModel } from "../support/model-fixtures.ts";
import { scanned } from "../support/rewritten.ts";

describe("BanCompetitors", () => {
  it("finds and redacts names as whole words in any case", async () => {
    const scanner = new BanCompetitors({ competitors: ["Acme", "Blue Sky Ltd."] });
    const { isValid, score, rewritten, findings } = await scanned(
      scanner,
      "Why ACME and blue sky ltd. beat acmeology",
      {},
    );
    expect([isValid, score]).toEqual([false, 1]);
    expect(rewritten).toBe("Why [REDACTED] and [REDACTED] beat acmeology");
    expect(findings).toMatchObject([
      { start: 4, end: 8, type: "competitor", text: "ACME", label: "Acme" },
      { start: 13, end: 26, label: "Blue Sky Ltd." },
    ]);
    expect(await scanned(scanner, "We sell anvils.", {})).toMatchObject({ isValid: true, score: -1, findings: [] });
    expect(await scanned(scanner, "", {})).toMatchObject({ isValid: true, score: -1 });
  });

  it("finds aliases of a competitor", async () => {
    const scanner = new BanCompetitors({
      competitors: ["Acme Corporation", "Rivals"],
      aliases: { "Acme Corporation": ["ACM", "埃克米"] },
      redact: false,
    });
    expect(scanner.sanitizes).toBe(false);
    const verdict = await scanned(scanner, "我们比埃克米便宜; ACM is dear", {});
    expect(verdict.findings.map(({ label }) => label)).toEqual(["Acme Corporation", "Acme Corporation"]);
    expect(verdict).not.toHaveProperty("edits");
    expect(() => new BanCompetitors({ competitors: ["Acme"], aliases: { Rival: ["R"] } })).toThrow(/^aliases.Rival:/);
  });

  it.each([
    ["Яндекс", "Мы дешевле Яндекса.", "Яндекса"],
    ["Яндекс", "работает с ЯНДЕКСОМ", "ЯНДЕКСОМ"],
    ["Почта России", "на Почте России", "Почте России"],
    ["Альфа-Банк", "в Альфа-Банке", "Альфа-Банке"],
    ["Росгвардия", "из Росгвардии", "Росгвардии"],
    ["Сбербанк", "к Сбербанку", "Сбербанку"],
    ["Связной", "со Связным", undefined],
    ["МТС", "МТСа нет", undefined],
  ])("finds %s in %j as %s", async (competitor, text, found) => {
    const { findings } = await scanned(new BanCompetitors({ competitors: [competitor] }), text, {});
    expect(findings[0]?.text).toBe(found);
  });

  it.each([
    "Acme Corp",
    "ACME  corp",
    "Acme\nCorp",
    "Acme\r\n\tCorp",
    "Acme\u00a0Corp",
    "Acme\u3000Corp",
    "Acme\u200bCorp",
    "Acme \u200b Corp",
    "Acme-Corp",
  ])("finds %j for Acme Corp", async (name) => {
    const scanner = new BanCompetitors({ competitors: ["Acme Corp"] });
    for (const [before, after] of [
      ["", ""],
      ["Is  é\n", "'s  offer"],
      ["😀 (", ")\n\n"],
    ]) {
      const { rewritten, findings } = await scanned(scanner, before + name + after, {});
      expect(rewritten).toBe(`${before}[REDACTED]${after}`);
      expect(findings).toMatchObject([{ text: name, label: "Acme Corp" }]);
    }
  });

  it.each([
    ["Acme Corp", "AcmeCorp, Acme, Corp, Acme Corporation, acme corps"],
    ["A-Team", "what a team, a  team"],
    ["Best Buy", "The best, buy it. The best - buy it."],
  ])("ignores other words that resemble %s: %s", async (competitor, text) => {
    expect((await scanned(new BanCompetitors({ competitors: [competitor] }), text, {})).findings).toEqual([]);
  });

  it("matches case with caseSensitive", async () => {
    const scanner = new BanCompetitors({ competitors: ["Apple"], caseSensitive: true });
    expect((await scanned(scanner, "an apple pie", {})).isValid).toBe(true);
    expect((await scanned(scanner, "an Apple phone", {})).isValid).toBe(false);
  });

  it("counts a name only if the model finds an organisation", async () => {
    const scanner = new BanCompetitors({
      competitors: ["Apple", "Acme"],
      aliases: { Acme: ["Acme phone"] },
      model: multitaskModel,
    });
    const text = "😀 Apple sells apple pie , Acme phone";
    const { findings, rewritten } = await scanned(scanner, text, {});
    expect(rewritten).toBe("😀 [REDACTED] sells apple pie , [REDACTED]");
    expect(findings.map(({ text, label }) => [text, label])).toEqual([
      ["Apple", "Apple"],
      ["Acme", "Acme"],
      ["Acme phone", "Acme"],
    ]);
    expect(await scanned(scanner, "an apple pie", {})).toMatchObject({ isValid: true, score: -1 });
    const sure = new BanCompetitors({ competitors: ["Apple"], model: multitaskModel, threshold: 1 });
    expect((await scanned(sure, "Apple sells juice", {})).isValid).toBe(true);
  });

  it("finds disguised names with deobfuscate, whatever the model finds", async () => {
    const hidden = Buffer.from("Please compare it with Acme").toString("base64");
    const scanner = new BanCompetitors({ competitors: ["Acme"], model: multitaskModel, deobfuscate: true });
    expect((await scanned(scanner, `read ${hidden}`, {})).rewritten).toBe("read [REDACTED]");
  });

  it("refuses a model that finds no names", () => {
    expect(() => new BanCompetitors({ competitors: ["Acme"], model: exclusiveClassifier })).toThrow(
      /^model.*judges texts as a whole/,
    );
    expect(() => new BanCompetitors({ competitors: ["Acme"], model: "no/such/folder" })).toThrow(/^model/);
  });

  it("changes only names in any text", async () => {
    const scanner = new BanCompetitors({ competitors: ["Acme", "Яндекс"] });
    const word = fc.oneof(fc.constantFrom("acme", "Яндекса", "😀", " "), fc.string({ unit: "binary", maxLength: 5 }));
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 20 }), async (words) => {
        const text = words.join(" ").toWellFormed();
        const { findings, rewritten } = await scanned(scanner, text, {});
        let last = 0;
        let expected = "";
        for (const { start, end } of findings.toSorted((a, b) => a.start - b.start)) {
          expected += `${text.slice(last, start)}[REDACTED]`;
          last = end;
        }
        expect(rewritten).toBe(expected + text.slice(last));
      }),
    );
  });
});
