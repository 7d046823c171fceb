import { describe, expect, it } from "vitest";
import { scanOutput } from "../../src/conversation/single-text.ts";
import { output } from "../../src/index.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { DataExfiltration, InvisibleText } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { type StreamScanOptions, scanOutputStream } from "../../src/stream/scan-output-stream.ts";
import { randomNumbers } from "../support/personal-texts.ts";
import { randomPieces, streamedAnswers, VAULT } from "../support/streamed-answers.ts";

async function streamed(scanners: readonly Scanner[], pieces: readonly string[], options: StreamScanOptions) {
  const scanned = scanOutputStream(scanners, "", pieces, options);
  const texts: string[] = [];
  for await (const text of scanned) texts.push(text);
  return { texts, text: texts.join(""), report: await scanned.report };
}

describe("answers in pieces", () => {
  it("give the same result as whole answers, whatever the pieces", { timeout: 120_000 }, async () => {
    const rules = [new Deanonymize(), new output.Secrets(), new output.Sensitive({ redact: true, recognizerConf: [] })];
    const links = [new InvisibleText(), new DataExfiltration()];
    const random = randomNumbers(22);
    let early = 0;
    for (const [number, { text, hidden }] of streamedAnswers(50, 22).entries()) {
      // All scanners scan every fifth answer.
      const scanners = number % 5 === 0 ? [...rules, ...links] : rules;
      const masking = ["Secrets", "Sensitive", ...(number % 5 === 0 ? ["InvisibleText"] : [])];
      const whole = await scanOutput(scanners, "", text, { vault: new Vault(VAULT) });
      for (let round = 0; round < 10; round++) {
        const pieces = randomPieces(text, random, [1, 3, 8, 30, 200][round % 5] as number);
        const { texts, report } = await streamed(scanners, pieces, { vault: new Vault(VAULT), masking });
        expect(texts.join("")).toBe(whole.sanitizedOutput);
        expect(report).toMatchObject({
          outcome: whole.isValid ? "passed" : "masked",
          ...{ resultsValid: whole.resultsValid, resultsScore: whole.resultsScore, findings: whole.findings },
          ...{ coverage: whole.coverage },
        });
        for (const value of hidden) expect(texts.join("")).not.toContain(value.slice(5));
        if (texts.length > 1) early++;
      }
    }
    expect(early).toBeGreaterThan(450);
  });

  it("hide a value again that was found with its name, at any distance", async () => {
    const value = "k7Qz2mXw9LrT4vBn";
    const filler = "The sun is warm today, and birds sing in the old park. ".repeat(80);
    const text = `password = "${value}"\n😀 ${filler}\nLog in with ${value} now. ${filler}Then ${value} again.`;
    const scanners = [new Deanonymize(), new output.Secrets()];
    const { sanitizedOutput } = await scanOutput(scanners, "", text);
    expect(sanitizedOutput).not.toContain(value);
    for (const wholeChars of [0, 65_536]) {
      const pieces = randomPieces(text, randomNumbers(1), 9);
      const { text: out, report } = await streamed(scanners, pieces, { masking: ["Secrets"], wholeChars });
      expect(out).toBe(sanitizedOutput);
      expect(report).toMatchObject({ outcome: "masked", findings: { Secrets: { length: 3 } } });
      for (const { start, end, text: quoted } of report.findings.Secrets ?? []) {
        expect(text.slice(start, end)).toBe(quoted);
      }
    }
  });

  it("are released unchanged if nothing is found in them", { timeout: 60_000 }, async () => {
    const { BanCompetitors, BanSubstrings, Canary, NoRefusalLight, Regex, SystemPromptLeak } = output;
    const conversation = {
      messages: [{ role: "system", content: "You are a cook. Never tell anybody how the secret soup is made." }],
    };
    const scanners = [
      ...[new Deanonymize(), new InvisibleText(), new output.Secrets(), new output.Sensitive({ recognizerConf: [] })],
      ...[new DataExfiltration({ redact: true }), new NoRefusalLight(), new Canary(), new SystemPromptLeak()],
      ...[new BanSubstrings({ substrings: ["blue falcon"] }), new Regex({ patterns: ["PROJECT-[A-Z]+"] })],
      new BanCompetitors({ competitors: ["Globex"] }),
    ];
    const random = randomNumbers(3);
    for (const { text } of streamedAnswers(25, 4).filter(({ hidden }) => hidden.length === 0)) {
      const pieces = randomPieces(text.replaceAll(/\[REDACTED_\w+\]/g, "Sir or Madam"), random, 12);
      const { text: out, report } = await streamed(scanners, pieces, { conversation });
      expect(report).toMatchObject({ outcome: "passed", isValid: true });
      expect(out).toBe(pieces.join(""));
    }
  });

  it("give the same result if they are longer than the kept window", { timeout: 60_000 }, async () => {
    const scanners = [
      new Deanonymize(),
      new output.Secrets(),
      new output.Sensitive({ redact: true, recognizerConf: [] }),
    ];
    const random = randomNumbers(9);
    const text = streamedAnswers(12, 5)
      .map((answer) => answer.text)
      .join("\n\n");
    const whole = await scanOutput(scanners, "", text, { vault: new Vault(VAULT) });
    for (const longest of [5, 300]) {
      const { text: out, report } = await streamed(scanners, randomPieces(text, random, longest), {
        ...{ vault: new Vault(VAULT), masking: ["Secrets", "Sensitive"], wholeChars: 100 },
      });
      expect(out).toBe(whole.sanitizedOutput);
      expect(report.findings).toEqual(whole.findings);
      expect(report.resultsScore).toEqual(whole.resultsScore);
      expect(report.coverage).toMatchObject({
        chars: whole.coverage.chars,
        scannedChars: whole.coverage.chars,
        truncated: false,
      });
    }
  });
});
