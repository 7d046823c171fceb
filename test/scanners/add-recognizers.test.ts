import { describe, expect, it, onTestFinished } from "vitest";
import {
  addRecognizers,
  type GuardValidationError,
  input,
  output,
  scanConversation,
  scanOutput,
  scanPrompt,
  Vault,
  VerdictCache,
} from "../../src/index.ts";

const SEAT = {
  name: "Seats",
  supported_entity: "seat",
  patterns: [{ name: "row and letter", regex: "\\bseat \\d{1,2}[A-F]\\b", score: 0.9 }],
};

const issuesOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return (error as GuardValidationError).issues;
  }
  throw new Error("expected an error");
};

describe("addRecognizers", () => {
  it("returns scanners that find more, and leaves the given ones unchanged", async () => {
    const anonymize = new input.Anonymize({ recognizerConf: [], name: "Names" });
    onTestFinished(() => anonymize.close());
    const others = [new input.InvisibleText(), new input.BanSubstrings({ substrings: ["zebra"] })];
    const scanners = addRecognizers([...others, anonymize], [SEAT]);
    expect(scanners.slice(0, 2)).toEqual(others);
    expect(scanners.map(({ name }) => name)).toEqual(["InvisibleText", "BanSubstrings", "Names"]);
    const vault = new Vault();
    const report = await scanPrompt(scanners, "ann@example.org has Seat 12C", { vault });
    expect(report.sanitizedPrompt).toBe("[REDACTED_EMAIL_ADDRESS_1] has [REDACTED_SEAT_1]");
    expect(vault.entries()).toContainEqual(["[REDACTED_SEAT_1]", "Seat 12C"]);
    expect((await scanPrompt([anonymize], "Seat 12C")).isValid).toBe(true);
  });

  it("applies operators and hidden types to the new types", async () => {
    const sensitive = new output.Sensitive({
      ...{ recognizerConf: [], redact: true, entityTypes: ["EMAIL_ADDRESS"] },
      operators: { DEFAULT: { type: "mask", keepEnd: 1 } },
    });
    const [scanner] = addRecognizers([sensitive], [SEAT]);
    const report = await scanOutput([scanner as typeof sensitive], "", "seat 12C, 192.0.2.1");
    expect(report.sanitizedOutput).toMatch(/^\*+C, 192\.0\.2\.1$/);
  });

  it("keeps verdicts in a cache apart", async () => {
    const anonymize = new input.Anonymize({ recognizerConf: [] });
    const verdicts = new VerdictCache();
    const messages = [
      { role: "user" as const, content: "seat 12C" },
      { role: "assistant" as const, content: "ok" },
      { role: "user" as const, content: "seat 12C again" },
    ];
    const isValid = async (scanners: readonly (typeof anonymize)[]) =>
      (await scanConversation(scanners, messages, { verdicts })).isValid;
    const more = addRecognizers([anonymize], [SEAT]) as (typeof anonymize)[];
    expect([await isValid([anonymize]), await isValid(more), await isValid([anonymize])]).toEqual([true, false, true]);
  });

  it("names every invalid value", () => {
    const scanners = [new input.Anonymize({ recognizerConf: [] })];
    const pattern = { name: "p", regex: "(", score: 0.5 };
    expect(issuesOf(() => addRecognizers(scanners, [{ ...SEAT, patterns: [pattern] }]))).toEqual([
      { path: "0.patterns.0.regex", message: "is not a valid regular expression: unclosed group" },
    ]);
    const empty = { name: "x", supported_entity: "X" };
    expect(issuesOf(() => addRecognizers(scanners, [SEAT, empty]))).toEqual([
      { path: "1", message: "needs patterns or a deny_list" },
    ]);
    expect(issuesOf(() => addRecognizers(scanners, [{ ...empty, denyList: ["a"] } as never]))[0]?.path).toBe(
      "0.denyList",
    );
    expect(issuesOf(() => addRecognizers([new input.InvisibleText()], [SEAT]))).toEqual([
      { path: "", message: "no scanner looks for personal data" },
    ]);
  });
});
