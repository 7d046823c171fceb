import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listModels } from "../../src/index.ts";
import { BanCode, Code } from "../../src/scanners/generated/input-scanners.ts";
import { BanCode as OutputBanCode } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import texts from "../fixtures/code-or-not.json" with { type: "json" };

/** The languages of llm-guard 0.3.16. */
const LLM_GUARD = [
  "ARM Assembly",
  "AppleScript",
  "C",
  "C#",
  "C++",
  "COBOL",
  "Erlang",
  "Fortran",
  "Go",
  "Java",
  "JavaScript",
  "Kotlin",
  "Lua",
  "Mathematica/Wolfram Language",
  "PHP",
  "Pascal",
  "Perl",
  "PowerShell",
  "Python",
  "R",
  "Ruby",
  "Rust",
  "Scala",
  "Swift",
  "Visual Basic .NET",
  "jq",
];

const python = `def mean(values):
    total = 0
    for value in values:
        total += value
    return total / len(values) if values else None`;
const rust = `fn mean(values: &[f64]) -> Option<f64> {
    let total: f64 = values.iter().sum();
    (!values.is_empty()).then(|| total / values.len() as f64)
}`;
const java = `public class Mean {
    public static void main(String[] args) {
        double total = 0;
        for (String arg : args) { total += Double.parseDouble(arg); }
        System.out.println(total / args.length);
    }
}`;
const prose = `Thanks for the quick reply. I read the report that you sent last week, and I think the average of the
values is too low. Could you please check it again? If the total is right, we should define a new class of customers.`;

describe("Code", () => {
  it("accepts llm-guard's languages in any case, and aliases", () => {
    expect(new Code({ languages: LLM_GUARD }).type).toBe("Code");
    expect(
      new Code({ languages: ["python", "RUST", "js", "ts", "golang", "c++", "cpp", "Bash", "csharp"] }),
    ).toBeDefined();
  });

  it("refuses an unknown language, and lists the known ones", () => {
    const make = () => new Code({ languages: ["Python", "Klingon"] });
    expect(make).toThrow(GuardValidationError);
    expect(make).toThrow(/languages\.1: unknown language Klingon; known are: ARM Assembly, AppleScript, C, C#/);
    expect(() => new Code({ languages: ["none"] })).toThrow(/unknown language none/);
    expect(() => new Code({ languages: [] })).toThrow(GuardValidationError);
    expect(() => new Code({ languages: ["Python"], model: "embedded:nothing" })).toThrow(
      /model: there is no embedded model/,
    );
  });

  it("blocks a language, and passes others", async () => {
    const scanner = new Code({ languages: ["Python"] });
    const found = await scanner.scan(python);
    expect(found.isValid).toBe(false);
    expect(found.score).toBeGreaterThan(0);
    expect(found.findings).toMatchObject([
      { type: "code", label: "Python", text: python, start: 0, end: python.length },
    ]);
    for (const other of [rust, java, prose]) expect((await scanner.scan(other)).isValid).toBe(true);
  });

  it("finds code within prose, with and without fences", async () => {
    const scanner = new Code({ languages: ["rust", "Java"] });
    for (const text of [
      `Схема 😀: look at this\n\n\`\`\`\n${rust}\n\`\`\`\n\n${prose}`,
      `${prose}\n\n~~~~java\n${java}\n~~~~\n`,
      `> quoted\n> \`\`\`rust\n${rust}`,
      `${prose}\n\n${java}\n\n${prose}`,
    ]) {
      const { isValid, findings } = await scanner.scan(text);
      expect(isValid, text).toBe(false);
      for (const finding of findings) expect(finding.text).toBe(text.slice(finding.start, finding.end));
      expect(findings.map(({ text }) => text).join("\n")).toMatch(/mean|Mean/);
    }
  });

  it("treats the language of a fence as a hint", async () => {
    const scanner = new Code({ languages: ["Java"] });
    expect((await scanner.scan(`\`\`\`python\n${java}\n\`\`\``)).isValid).toBe(false);
    expect((await scanner.scan(`\`\`\`java\n${python}\n\`\`\``)).isValid).toBe(true);
  });

  it("fails code in any other language with isBlocked false", async () => {
    const scanner = new Code({ languages: ["Python"], isBlocked: false });
    expect((await scanner.scan(python)).isValid).toBe(true);
    expect((await scanner.scan(prose)).isValid).toBe(true);
    expect((await scanner.scan(java)).isValid).toBe(false);
    const both = await scanner.scan(`\`\`\`\n${python}\n\`\`\`\nand\n\`\`\`\n${java}\n\`\`\``);
    expect(both.findings.map(({ label }) => label)).toEqual(["Java"]);
  });

  it("judges any text if all languages are listed", async () => {
    const { labels = [] } = listModels("/nowhere").find(({ model }) => model === "embedded:code") ?? {};
    const all = new Code({ languages: labels.filter((label) => label !== "none") });
    for (const [, text] of texts.code) {
      expect((await all.scan(text ?? "")).probability).toBeLessThanOrEqual(1);
    }
  });

  it("finds a few lines within a long listing", async () => {
    const json = `${JSON.stringify(
      Array.from({ length: 900 }, (_, id) => ({ id, name: `user ${id}`, tags: ["a", "b"] })),
      null,
      1,
    )}\n`;
    const text = `\`\`\`\n${json}\n\`\`\`\n\n\`\`\`\n${java}\n\`\`\`\n\n\`\`\`\n${json}\n\`\`\``;
    const { isValid, findings } = await new Code({ languages: ["Java"] }).scan(text);
    expect(isValid).toBe(false);
    expect(findings.map(({ text }) => text)).toEqual([java]);
  });
});

describe("BanCode", () => {
  it("has the thresholds of llm-guard", () => {
    expect(new BanCode()).toMatchObject({ options: { threshold: 0.97 } });
    expect(new OutputBanCode()).toMatchObject({ options: { threshold: 0.9 } });
  });

  it("blocks code of any language", async () => {
    const scanner = new BanCode();
    for (const [label, code] of [
      ["Python", python],
      ["Rust", rust],
      ["Java", java],
    ] as const) {
      const { isValid, findings } = await scanner.scan(code);
      expect(isValid).toBe(false);
      expect(findings[0]?.label).toBe(label);
      expect((await scanner.scan(`${prose}\n\n\`\`\`\n${code}\n\`\`\`\n${prose}`)).isValid).toBe(false);
    }
  });

  it("passes lists, forms, logs, formulas and messages, and finds code", async () => {
    const scanners = [new BanCode(), new OutputBanCode()];
    for (const scanner of scanners) {
      for (const text of texts.harmless) expect((await scanner.scan(text)).isValid, text).toBe(true);
      for (const [language, text = ""] of texts.code) expect((await scanner.scan(text)).isValid, language).toBe(false);
    }
    // A fence without a language is only a hint that its content is code.
    for (const text of ["- milk\n- bread", "Error: file not found", "Name: Anna\nAge: 34"]) {
      expect((await scanners[0]?.scan(`\`\`\`\n${text}\n\`\`\``))?.isValid, text).toBe(true);
    }
  });

  it.each([
    prose,
    "How do I sort a list in Python?",
    "Bitte schreibe eine Zusammenfassung des Textes in drei Sätzen.",
    "Напиши письмо клиенту и объясни, почему заказ задерживается.",
    "请用三句话总结这篇文章。",
    "- milk\n- eggs (12)\n- bread\n\n1. Wake up.\n2. Go to work.",
    "| Name | Age |\n|---|---|\n| Anna | 34 |\n| Boris | 41 |",
    "2026-03-01 12:00:01 INFO server started\n2026-03-01 12:00:02 WARN disk almost full",
    "What is 12 + 30 * 2? I think x = 72.",
  ])("passes %j", async (text) => {
    expect((await new BanCode().scan(text)).isValid).toBe(true);
  });

  it("passes empty and blank texts", async () => {
    for (const text of ["", " \n\t\r\n ", "```\n```", "\u200b"]) {
      expect((await new BanCode().scan(text)).isValid, JSON.stringify(text)).toBe(true);
    }
    expect(await new BanCode().scan("  ")).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it("treats long texts like short ones", async () => {
    const long = `${`${prose}\n\n`.repeat(60)}${java}\n\n${prose}`;
    const { isValid, findings, coverage } = await new BanCode().scan(long);
    expect(isValid).toBe(false);
    expect(coverage).toMatchObject({ chars: long.length, scannedChars: long.length, truncated: false });
    expect(findings.map(({ text }) => text).join("\n")).toContain("System.out.println");
  });

  it("has valid offsets in any text", async () => {
    const scanner = new BanCode({ threshold: 0 });
    const pieces = fc.constantFrom(
      "```",
      "~~~",
      "`",
      "``",
      "\n",
      "\r\n",
      "    ",
      "x = 1;",
      "слово",
      "😀",
      "e\u0301",
      "{}",
      "> ",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { findings } = await scanner.scan(text);
        let last = 0;
        for (const { start, end, text: found, score } of findings) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          expect(found).toBe(text.slice(start, end));
          expect(score >= 0 && score <= 1).toBe(true);
          last = end;
        }
      }),
      { numRuns: 300 },
    );
  });
});
