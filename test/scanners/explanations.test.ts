import { describe, expect, it } from "vitest";
import { buildScanners, parseConfig } from "../../src/config/index.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { Anonymize, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { Sensitive } from "../../src/scanners/generated/output-scanners.ts";
import { testServer } from "../server/fixtures.ts";

async function explanations(scanner: Scanner, text: string) {
  const { findings } = await scanner.scan(text, {});
  return findings.map(({ label, explanation }) => [label, explanation]);
}

const options = { recognizerConf: [], explain: true };

describe("explain", () => {
  it.each<[string, string, object]>([
    ["Write to ann@example.com.", "EMAIL_ADDRESS", { by: "recognizer", id: "email" }],
    [
      "Paid with 4111 1111 1111 1111",
      "CREDIT_CARD",
      { by: "recognizer", id: "credit-card", check: { id: "credit-card", passed: true } },
    ],
    [
      "PESEL: 44051401359",
      "PL_PESEL",
      { by: "recognizer", id: "pl-pesel", context: "pesel", check: { id: "pl-pesel", passed: true } },
    ],
    [
      "PESEL: 44051401358",
      "PL_PESEL",
      { by: "recognizer", id: "pl-pesel", context: "pesel", check: { id: "pl-pesel", passed: false } },
    ],
    ["Почта ivan@example.com", "EMAIL_ADDRESS", { by: "recognizer", id: "email" }],
  ])("names the recognizer, the context word and the check in %j", async (text, label, explanation) => {
    for (const scanner of [new Anonymize(options), new Sensitive(options)]) {
      expect(await explanations(scanner, text)).toEqual([[label, explanation]]);
    }
  });

  it("names what the options add", async () => {
    const scanner = new Anonymize({
      ...options,
      hiddenNames: ["Aurora"],
      regexPatterns: [{ name: "TICKET", expressions: ["T-[0-9]{4}"], context: ["works"] }],
      recognizers: [() => [], (text) => [{ start: 0, end: text.indexOf(" "), type: "PERSON" }]],
    });
    expect(await explanations(scanner, "Mikael works on Aurora, T-1234")).toEqual([
      ["PERSON", { by: "function", id: "recognizers.1" }],
      ["CUSTOM", { by: "names", id: "hidden_names" }],
      ["TICKET", { by: "pattern", id: "TICKET", context: "works" }],
    ]);
  });

  it("names models", async () => {
    const find = (text: string) => [{ start: 0, end: text.indexOf(" "), type: "PERSON", score: 0.9 }];
    const scanner = new Anonymize({ explain: true, recognizerConf: [{ defaultModel: { types: ["PERSON"], find } }] });
    expect(await explanations(scanner, "Mikael is here")).toEqual([["PERSON", { by: "model", id: "plugin" }]]);
  });

  it("names the rule of a secret", async () => {
    const [found] = await explanations(new Secrets({ explain: true }), 'password = "Tr0ub4dor&3x9"');
    expect(found?.[1]).toEqual({ by: "rule", id: found?.[0], check: { id: "password", passed: true } });
    const [token] = await explanations(new Secrets({ explain: true }), `ghp_${"aB3dE9fG".repeat(5).slice(0, 36)}`);
    expect(token?.[1]).toEqual({
      by: "rule",
      id: "github-personal-access-token",
      check: { id: "github-crc", passed: false },
    });
  });

  it("adds nothing unless it is asked for", async () => {
    const { explain: _, ...plain } = options;
    const scanners = [new Anonymize(plain), new Sensitive(plain), new Secrets()];
    for (const scanner of scanners) {
      const { findings } = await scanner.scan('ann@example.com, password = "Tr0ub4dor&3x9"', {});
      expect(findings.length).toBeGreaterThan(0);
      for (const finding of findings) expect(finding).not.toHaveProperty("explanation");
    }
  });

  it("answers over HTTP", async () => {
    const file = "input_scanners: [{ type: Anonymize, params: { recognizer_conf: [], explain: true } }]";
    const { post } = await testServer(buildScanners(parseConfig(file)));
    const reply = await post("/analyze/prompt", { prompt: "Write to ann@example.com.", details: true });
    expect(reply.json().findings.Anonymize[0].explanation).toEqual({ by: "recognizer", id: "email" });
  });
});
