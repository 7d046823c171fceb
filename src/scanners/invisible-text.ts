import { addon, native } from "../native.ts";
import { type Finding, passed, wholeText } from "../scanner.ts";
import { defineScanner } from "./define.ts";
import { FAILED } from "./score.ts";

export const InvisibleText = defineScanner({
  type: "InvisibleText",
  summary: "Finds and removes characters that a reader does not see and a model does.",
  description:
    "These are Unicode tags, zero-width characters, bidirectional controls, private use and unassigned code points, and runs of " +
    "variation selectors.",
  sides: { input: {} },
  options: () => ({}),
  findings: [{ type: "invisible", label: "The kind of character." }],
  examples: {
    passes: ["Ein ganz gewöhnlicher Satz.", "今天天气很好。"],
    fails: [{ text: "Hello\u200bWorld", sanitized: "HelloWorld" }],
  },
  create: () => ({
    sanitizes: true,
    async check(text) {
      // No ASCII character is in the Unicode categories that are looked for (`Cf`, `Co`, `Cn`), nor is any a variation selector.
      if (isAscii(text)) return passed(text);
      const { runs, visible } = await native(() => addon.scanInvisible(text));
      if (visible == null) return passed(text);
      const findings = runs.map(
        ({ start, end, kind }): Finding => ({
          start,
          end,
          type: "invisible",
          text: text.slice(start, end),
          score: 1,
          label: kind,
        }),
      );
      return { isValid: false, score: FAILED, sanitized: visible, findings, coverage: wholeText(text) };
    },
  }),
});

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text);
}
