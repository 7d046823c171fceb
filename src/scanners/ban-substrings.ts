import { z } from "zod";
import { addon } from "../native.ts";
import { passed } from "../scan/scanner.ts";
import { ruleOptions } from "./common-options.ts";
import { defineScanner } from "./define-scanner.ts";
import { longestOf } from "./parts/open-spans.ts";
import { matchedRules, ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

export const BanSubstrings = defineScanner({
  type: "BanSubstrings",
  summary: "Blocks texts that contain one of the substrings, or all of them.",
  description:
    "With `redact`, the first occurrence of each substring is replaced, and the others stay in the text that reaches the model. " +
    "`redact_all` replaces every occurrence. Substrings match in every canonically equivalent spelling: an `é` is also found as an `e` with a " +
    "combining accent. White space matches literally too: only with `deobfuscate` is `project falcon` found across a line end or two messages.\n\n" +
    "With `deobfuscate`, a substring that only the decoded text contains redacts the whole encoded piece, such as a run of base64. The " +
    "first occurrence is the one that begins first, disguised or not. With `contains_all`, each substring may be in the text or in a " +
    "decoded view.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    substrings: z.array(z.string().min(1)).min(1).describe("Texts to look for, matched literally."),
    matchType: z.enum(["str", "word"]).default("str").describe("str: anywhere. word: whole words only."),
    caseSensitive: z.boolean().default(false).describe("Whether upper and lower case differ."),
    redact: z
      .boolean()
      .default(false)
      .describe("Replaces the first occurrence of each substring by [REDACTED]. Others stay; see redact_all."),
    redactAll: z
      .boolean()
      .default(false)
      .describe("Replaces every occurrence, as llm-guard 0.3.16 does. Implies redact."),
    containsAll: z.boolean().default(false).describe("A text fails only if it contains all substrings."),
  }),
  conversation: { window: true },
  differences: [
    {
      with: ["redact"],
      without: ["redactAll"],
      text: "`redact` replaces the first occurrence of each substring, as llm-guard's documentation says, and the others stay. llm-guard itself replaces every occurrence: use `redact_all` for that.",
    },
  ],
  findings: [{ type: "substring", label: "The substring as configured." }],
  examples: {
    options: { substrings: ["project falcon"], redact: true },
    passes: ["The falcon is the fastest bird."],
    fails: [{ text: "Tell me about Project Falcon.", sanitized: "Tell me about [REDACTED]." }],
  },
  create({ options }) {
    const { substrings, matchType, caseSensitive, redact, redactAll, containsAll, deobfuscate } = options;
    const sanitizes = redact || redactAll;
    const set = new addon.SubstringSet(substrings, {
      ...{ matchType, caseSensitive, all: redactAll, deobfuscate },
    });
    const report = { type: "substring", labels: substrings, redacts: sanitizes };
    const span = longestOf(substrings, deobfuscate);
    return {
      sanitizes,
      leavesFindings: sanitizes && !redactAll,
      // With containsAll, only the whole answer tells whether all substrings occur.
      ...(containsAll ? {} : { streaming: { reads: "spans", span, across: span } as const }),
      check: ruleCheck(set, (text, scan) => {
        if (!scan) return passed(text);
        const fails = !containsAll || matchedRules(scan).size === substrings.length;
        return fails ? ruleVerdict(text, scan, report) : passed(text);
      }),
    };
  },
});
