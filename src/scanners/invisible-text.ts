import { z } from "zod";
import { addon, type InvisibleScan, native } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { MAX_FINDINGS } from "../scan/findings.ts";
import { type Finding, passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { mapRows } from "../text/rows.ts";
import { defineScanner } from "./define-scanner.ts";

/** The kinds of invisible characters. `Kind` of guard-core lists their characters. */
const KINDS = [
  "joiners",
  "zero_width_spaces",
  "directional_marks",
  "directional_controls",
  "soft_hyphens",
  "tags",
  "variation_selectors",
  "fillers",
  "private_use",
  "unassigned",
  "format_characters",
] as const;

export const InvisibleText = defineScanner({
  type: "InvisibleText",
  summary: "Finds and removes characters that readers cannot see but models read.",
  description:
    "These are Unicode tags, zero-width characters, bidirectional controls, private use and unassigned code points, blank letters, and " +
    "runs of variation selectors.\n\n" +
    "Characters that a script needs are kept: joiners in emoji and in words of scripts whose letters join, such as Persian and Hindi; the " +
    "tags of flags; marks and closed isolates in texts with right-to-left letters, but no overrides; soft hyphens within words; " +
    "zero-width spaces in scripts without spaces, such as Thai; a byte order mark at the start.",
  sides: { input: {}, output: {} },
  options: () => ({
    allow: z
      .array(z.enum(KINDS))
      .default([])
      .describe(
        "Kinds that are allowed anywhere. private_use are icons of fonts and bullets of word processors. zero_width_spaces come with text " +
          "from web pages. joiners, tags and variation_selectors can carry whole messages.",
      ),
  }),
  differences: [
    {
      text: "Characters that a script needs are kept, such as joiners in Persian words and in emoji. llm-guard removes them. `allow` keeps more kinds.",
    },
    {
      text: "Blank letters (U+3164, U+034F, ...) and runs of variation selectors are found. llm-guard misses them.",
    },
  ],
  findings: [{ type: "invisible", label: "The kind of character, as in `allow`." }],
  examples: {
    passes: [
      "Ein ganz gewöhnlicher Satz.",
      "今天天气很好。",
      "او نمی\u200cداند.",
      "👩\u200d🚀 and 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    ],
    fails: [{ text: "Hello\u200bWorld", sanitized: "HelloWorld" }],
  },
  create: ({ options: { allow } }) => ({
    sanitizes: true,
    streaming: { reads: "spans", span: 32 },
    async check(text, context) {
      // No ASCII character is invisible in this sense.
      if (isAscii(text)) return passed(text);
      return verdict(text, await native(() => addon.scanInvisible(text, allow), context));
    },
  }),
});

function verdict(text: string, { runs, kinds }: InvisibleScan): Verdict {
  if (runs.length === 0) return passed(text);
  const finding = (column: (index: number) => number): Finding => {
    const [start, end] = [column(0), column(1)];
    const label = kinds[column(2)] as string;
    return { start, end, type: "invisible", text: text.slice(start, end), score: 1, label };
  };
  const findings = mapRows(runs, 3, finding, MAX_FINDINGS);
  const coverage = wholeText(text, 1, runs.length / 3 - findings.length);
  const edits = mapRows(runs, 3, (column): Edit => ({ start: column(0), end: column(1), replacement: "" }));
  return { isValid: false, score: FAILED, edits, findings, coverage };
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text);
}
