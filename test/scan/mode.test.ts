import { describe, expect, it } from "vitest";
import {
  ConversationRisk,
  input,
  output,
  type ScanReport,
  scanConversation,
  scanDocuments,
  scanOutput,
  scanOutputStream,
  scanPrompt,
  Vault,
} from "../../src/index.ts";
import { leastStrict, type ModeSetting, modeOf } from "../../src/scan/mode.ts";
import { passed, type Scanner, wholeText } from "../../src/scan/scanner.ts";
import { injectionScanner, scannerOf, wordScanner } from "../server/fixtures.ts";

/** The verdict of every check, without its time and its effect. */
const verdictsOf = ({ checks }: Pick<ScanReport, "checks">) =>
  checks.map(({ mode: _, timing: __, edits: ___, ...check }) => check);

const REGEX = { patterns: ["\\bEMP-\\d{6}\\b"], redact: true };
const scanners = () => [
  new input.Anonymize({ recognizerConf: [] }),
  new input.Secrets(),
  new input.BanSubstrings({ substrings: ["aurora"], redact: true }),
  new input.Regex(REGEX),
  injectionScanner(),
];
/** Texts that fail by several scanners, some only because of the text that another scanner has inserted. */
const TEXTS = [
  "The harbour is quiet in the morning.",
  "Write to ines.duarte@example.com about the aurora launch, p=0.97 now.",
  "Badge EMP-402913 opens the door. password: tr0ub4dor&3xkq",
  "Reach me at +49 30 901820 or ines.duarte@example.com, badge EMP-402913.",
  "Nothing but [REDACTED_EMAIL_ADDRESS_1] is left here.",
];

describe("a mode", () => {
  it("is the least strict of all settings that apply, by source", () => {
    expect(modeOf("user", [])).toBe("enforce");
    expect(modeOf("user", ["enforce", undefined, "monitor"])).toBe("monitor");
    expect(modeOf("tool", [{ tool: "monitor" }, { tool: "off", user: "monitor" }])).toBe("off");
    expect(modeOf("window", [{ user: "monitor" }])).toBe("monitor");
    expect(modeOf("output", [{ tool: "off" }])).toBe("enforce");
    expect(leastStrict("monitor", "enforce")).toBe("monitor");
    expect(leastStrict(undefined, { tool: "off" })).toEqual({ tool: "off" });
    expect(leastStrict("monitor", { tool: "off" })).toMatchObject({ user: "monitor", tool: "off", output: "monitor" });
  });

  it("is refused if it is unknown", async () => {
    expect(() => new input.Secrets({ mode: "watch" as never })).toThrow(
      "mode: must be one of enforce, monitor or off, got watch",
    );
    expect(() => new input.Secrets({ mode: { mail: "monitor" } as never })).toThrow("mode.mail: unknown key");
    await expect(scanPrompt(scanners(), "Hello!", { mode: "watch" as never })).rejects.toThrow("mode");
  });
});

describe("a scan in monitor mode", () => {
  it.each(TEXTS)("has the verdicts of enforce mode, and leaves the prompt as it is: %s", async (text) => {
    const vault = new Vault();
    const enforced = await scanPrompt(scanners(), text, { vault });
    const untouched = new Vault();
    const monitored = await scanPrompt(scanners(), text, { vault: untouched, mode: "monitor" });
    expect(verdictsOf(monitored)).toEqual(verdictsOf(enforced));
    expect(monitored.checks.every(({ mode, edits }) => mode === "monitor" && edits === undefined)).toBe(true);
    expect(monitored).toMatchObject({ isValid: true, sanitizedPrompt: text });
    expect(monitored.resultsScore).toEqual(enforced.resultsScore);
    expect(untouched.size).toBe(0);
  });

  it("changes no text of a conversation, and judges each as in enforce mode", async () => {
    const messages = [
      { role: "system", content: "You help with the aurora project." },
      { role: "user", content: TEXTS[1] as string },
      { role: "assistant", content: "I have written to ines.duarte@example.com." },
      { role: "user", content: TEXTS[3] as string },
      { role: "tool", tool_call_id: "1", content: "Ask ines.duarte@example.com. p=0.99 now." },
      { role: "user", content: TEXTS[2] as string },
    ];
    const list = scanners();
    const detecting = list.at(-1) as Scanner & Required<Pick<Scanner, "detect">>;
    const options = { risk: ConversationRisk.fromScanner(detecting) };
    const enforced = await scanConversation(list, messages, { ...options, vault: new Vault() });
    const vault = new Vault();
    const monitored = await scanConversation(list, messages, { ...options, vault, mode: "monitor" });
    expect(verdictsOf(monitored)).toEqual(verdictsOf(enforced));
    expect(enforced).toMatchObject({ isValid: false });
    expect(enforced.sanitizedMessages).not.toEqual(messages);
    expect(monitored).toMatchObject({ isValid: true, sanitizedMessages: messages, sanitizedPrompt: TEXTS[2] });
    expect(vault.size).toBe(0);
  });

  it("keeps documents whole, and cuts nothing out of them", async () => {
    const options = { maskInjections: true };
    const enforced = await scanDocuments(scanners(), TEXTS);
    const monitored = await scanDocuments(scanners(), TEXTS, { ...options, mode: { tool: "monitor" } });
    expect(monitored.isValid).toBe(true);
    expect(monitored.documents.map(({ sanitizedText }) => sanitizedText)).toEqual(TEXTS);
    expect(monitored.documents.map(verdictsOf)).toEqual(enforced.documents.map(verdictsOf));
  });

  it("gives a value the same placeholder in all texts of a vault, as in enforce mode", async () => {
    const anonymize = () => [
      new input.Anonymize({ recognizerConf: [] }),
      new input.BanSubstrings({ substrings: ["ADDRESS_2"] }),
    ];
    for (const mode of ["enforce", "monitor"] as const) {
      const vault = new Vault();
      await scanPrompt(anonymize(), "Write to ines.duarte@example.com.", { vault, mode });
      const second = await scanPrompt(anonymize(), "And to tomas.vela@example.org.", { vault, mode });
      expect(second.resultsValid).toEqual({ Anonymize: false, BanSubstrings: false });
      expect(vault.size).toBe(mode === "enforce" ? 2 : 0);
    }
  });

  it("never writes the own vault of a scanner", async () => {
    const vault = new Vault();
    const scanner = new input.Anonymize({ vault, recognizerConf: [], mode: "monitor" });
    const report = await scanPrompt([scanner], TEXTS[1] as string);
    expect(report).toMatchObject({ isValid: true, sanitizedPrompt: TEXTS[1], resultsValid: { Anonymize: false } });
    expect(vault.size).toBe(0);
  });

  it("does not restore values in outputs", async () => {
    const vault = new Vault([["[REDACTED_PERSON_1]", "Ines Duarte"]]);
    const report = await scanOutput([new output.Deanonymize({ mode: "monitor" })], "", "Dear [REDACTED_PERSON_1],", {
      vault,
    });
    expect(report.sanitizedOutput).toBe("Dear [REDACTED_PERSON_1],");
  });

  it("passes a text although a scanner throws, and reports the scanner", async () => {
    const broken = scannerOf("Broken", () => Promise.reject(new Error("no")), { mode: "monitor" });
    const report = await scanPrompt([broken, wordScanner("zebra")], "A horse.");
    expect(report).toMatchObject({ isValid: true, resultsValid: { Broken: false, Word: true } });
    expect(report.checks[0]).toMatchObject({ mode: "monitor", outcome: "error" });
    expect(report.coverage).toMatchObject({ failed: [], truncated: false });
  });

  it("looks up and stores cached verdicts as in enforce mode", async () => {
    const messages = [{ role: "user", content: "A zebra." }];
    for (const mode of ["enforce", "monitor"] as const) {
      let scans = 0;
      const counting = scannerOf("Counting", async (text) => {
        scans++;
        return passed(text);
      });
      const list = [wordScanner("zebra", { replacement: "horse" }), counting];
      const first = await scanConversation(list, messages, { mode });
      const second = await scanConversation(list, messages, { mode });
      expect(verdictsOf(second)).toEqual(verdictsOf(first));
      expect(scans).toBe(1);
    }
  });
});

describe("scanners of different modes", () => {
  const text = "A zebra and a horse.";

  it("judge what goes on if they enforce, and what would go on if they monitor", async () => {
    const list = [
      wordScanner("zebra", { name: "A", replacement: "donkey", mode: "monitor" }),
      wordScanner("horse", { name: "B", replacement: "mule" }),
      wordScanner("donkey", { name: "C" }),
      wordScanner("mule", { name: "D" }),
      wordScanner("a mule", { name: "E", mode: "monitor" }),
      wordScanner("donkey", { name: "F", mode: "monitor" }),
    ];
    const report = await scanPrompt(list, text);
    expect(report.sanitizedPrompt).toBe("A zebra and a mule.");
    // C would see the donkey only if A enforced.
    expect(report.resultsValid).toEqual({ A: false, B: false, C: true, D: false, E: false, F: false });
    expect(report.findings.F).toEqual([expect.objectContaining({ start: 2, end: 7, text: "zebra" })]);
    const enforcing = list.slice(1, 3);
    expect((await scanPrompt(enforcing, text)).sanitizedPrompt).toBe(report.sanitizedPrompt);
  });

  it("do not stop at a failure that is only monitored", async () => {
    const list = [
      wordScanner("zebra", { name: "A", mode: "monitor" }),
      wordScanner("horse", { name: "B" }),
      wordScanner("and", { name: "C" }),
    ];
    const report = await scanPrompt(list, text, { failFast: true });
    expect(report.resultsValid).toEqual({ A: false, B: false });
    expect(report.isValid).toBe(false);
  });

  it("differ by the source of the texts", async () => {
    const mode: ModeSetting = { tool: "monitor", history: "off" };
    const scanner = wordScanner("zebra", { mode, conversation: { sources: ["user", "tool"], history: true } });
    const messages = [
      { role: "user", content: "An old zebra." },
      { role: "assistant", content: "Yes?" },
      { role: "user", content: "A horse." },
      { role: "tool", tool_call_id: "1", content: "A zebra." },
    ];
    const report = await scanConversation([scanner], messages);
    expect(report.resultsValid).toEqual({ Word: true, "Word[tool]": false });
    expect(report.isValid).toBe(true);
    const prompt = await scanConversation([scanner], [{ role: "user", content: "A zebra." }]);
    expect(prompt.isValid).toBe(false);
  });

  it("leave out a scanner that is off, as if it was not listed", async () => {
    const off = wordScanner("zebra", { name: "A", mode: "off" });
    const report = await scanPrompt([off, wordScanner("horse", { name: "B" })], text);
    expect(Object.keys(report.resultsValid)).toEqual(["B"]);
    expect(report.coverage.suppressed).toEqual([]);
    expect((await scanPrompt([off], text)).coverage).toMatchObject({ scannedChars: 0 });
  });
});

describe("a stream in monitor mode", () => {
  const answer = "The zebra walks. Its name is Ines Duarte, ines.duarte@example.com. A boat goes by. ".repeat(6);
  const pieces = answer.match(/.{1,7}/gs) ?? [];
  const streamed = async (list: readonly Scanner[], mode?: ModeSetting) => {
    const scanned = scanOutputStream(list, "Who walks?", pieces, {
      mode,
      masking: list.filter(({ type }) => type === "Sensitive").map(({ name }) => name),
    });
    const texts: string[] = [];
    for await (const text of scanned) texts.push(text);
    return { texts, text: texts.join(""), report: await scanned.report };
  };
  const list = (): Scanner[] => [
    new output.Sensitive({ redact: true, recognizerConf: [] }),
    wordScanner("zebra", { streaming: { reads: "sentences", overlap: 0 } }),
    // It needs the whole answer, and would rewrite it.
    wordScanner("boat", { name: "Whole", replacement: "ship" }),
  ];

  it("releases the whole answer at once, and has the verdicts of the whole answer at its end", async () => {
    const { texts, text, report } = await streamed(list(), "monitor");
    expect(text).toBe(answer);
    expect(texts.length).toBeGreaterThan(20);
    const whole = await scanOutput(list(), "Who walks?", answer);
    expect(report.resultsScore).toEqual(whole.resultsScore);
    expect(report).toMatchObject({
      isValid: true,
      outcome: "passed",
      wouldBlock: ["Word", "Whole"],
      wouldMask: ["Sensitive"],
    });
    expect(report.findings).toEqual(whole.findings);
    expect((await streamed(list())).report.outcome).toBe("blocked");
  });

  it("judges the parts of an answer as in enforce mode, and all parts after a failing one", async () => {
    const short = (word: string) =>
      scannerOf(
        word,
        async (text) =>
          text.length < 60 && text.includes(word)
            ? { isValid: false, score: 1, findings: [], coverage: wholeText(text) }
            : passed(text),
        { streaming: { reads: "sentences", overlap: 0 } },
      );
    const parts = [short("zebra"), short("boat")];
    expect((await scanOutput(parts, "", answer)).isValid).toBe(true);
    expect((await streamed(parts)).report).toMatchObject({ outcome: "blocked", resultsValid: { zebra: false } });
    const { text, report } = await streamed(parts, "monitor");
    expect(text).toBe(answer);
    expect(report).toMatchObject({ outcome: "passed", wouldBlock: ["zebra", "boat"] });
  });

  it("is held back only by scanners that enforce", async () => {
    const [sensitive, word, whole] = list() as [Scanner, Scanner, Scanner];
    const monitoring = { ...whole, mode: "monitor" as const };
    const masked = await streamed([sensitive, monitoring]);
    expect(masked.report).toMatchObject({ outcome: "masked", wouldBlock: ["Whole"] });
    expect(masked.text).not.toContain("ines.duarte@example.com");
    expect(masked.text).toContain("A boat goes by.");
    expect(masked.texts.length).toBeGreaterThan(2);
    const blocked = await streamed([{ ...word }, monitoring]);
    expect(blocked).toMatchObject({ text: "", report: { outcome: "blocked" } });
  });
});
