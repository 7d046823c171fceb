import { z } from "zod";
import { addon, buildNative, type RuleScan } from "../native.ts";
import { passed } from "../scan/scanner.ts";
import { GuardError, GuardValidationError, issueOf } from "../support/errors.ts";
import { ruleOptions } from "./common-options.ts";
import { defineScanner } from "./define-scanner.ts";
import { longestMatch } from "./parts/open-spans.ts";
import { ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

/** The longest match that a stream holds back as a whole if letters may be spaced out. */
const MAX_DISGUISED_LENGTH = 128;

export const Regex = defineScanner({
  type: "Regex",
  summary: "Blocks texts that match a pattern, or passes only texts that match one.",
  description:
    "Patterns have the syntax and meaning of Python's `re`. Unsupported syntax, such as `\\N{BULLET}` and `(?a)`, is an error at start, " +
    "and so is syntax that Python does not know and others read differently, such as `\\h`.\n\n" +
    "Patterns run in linear time. A pattern with look-around or back-references runs under a step limit. Reaching the limit is an error, " +
    "never a pass. llm-guard 0.3.16 stops at the first pattern that matches, and leaves matches of later patterns in the text. Here all " +
    "patterns are applied.\n\n" +
    "Canonically equivalent spellings match: `é` in a pattern matches an `e` with a combining accent, and the reverse.\n\n" +
    "With `deobfuscate`, a match in a decoded view redacts the whole encoded piece, such as a run of base64. With `search` and " +
    "`fullmatch`, a match in the text itself comes first. With `all`, matches in views that repeat a match in the text are skipped. " +
    "Redacting a text again leaves [REDACTED] unchanged, even if a pattern such as `[A-Z]+` matches a part of it, but the text still fails.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    patterns: z
      .array(z.string().min(1))
      .min(1)
      .describe("Regular expressions, in the syntax of Rust's regex crate and Python's re.")
      .meta({ formerly: ["bad_patterns", "good_patterns"] }),
    isBlocked: z
      .boolean()
      .default(true)
      .describe("true: a text with a match fails. false: a text without a match fails."),
    matchType: z
      .enum(["search", "fullmatch", "all"])
      .default("search")
      .describe("search: the first match of each pattern. fullmatch: the whole text. all: every match."),
    redact: z.boolean().default(true).describe("Replaces matches of blocked patterns by [REDACTED]."),
  }),
  differences: [
    {
      without: ["matchType"],
      text: "The first match of each pattern is found (`search`), as llm-guard's documentation says. On input, llm-guard itself finds all matches, which is `match_type: all` here.",
    },
    {
      text: "Every pattern is applied. llm-guard stops at the first pattern that matches, and leaves matches of the others in the text.",
    },
    {
      text: "Python's character names (`\\N{BULLET}`) and flag `(?a)` are errors at start, never read as something else.",
    },
  ],
  findings: [{ type: "pattern", label: "The pattern." }],
  examples: {
    options: { patterns: ["Bearer [A-Za-z0-9-._~+/]+"] },
    passes: ["The bearer of this letter may enter."],
    fails: [{ text: "Authorization: Bearer abc123", sanitized: "Authorization: [REDACTED]" }],
  },
  create({ options }) {
    const { patterns, isBlocked, redact, matchType, deobfuscate } = options;
    if (deobfuscate && !isBlocked) {
      // Views are additional texts. If a match were required, a text without a match could pass because of one of its views.
      const message = "requires isBlocked: a required match must be in the text itself";
      throw new GuardValidationError([{ path: "deobfuscate", message }]);
    }
    const sanitizes = isBlocked && redact;
    const set = buildNative(() => new addon.PatternSet(patterns, { matchType, deobfuscate }));
    const report = { type: "pattern", labels: patterns, redacts: sanitizes };
    const verdict = (text: string, scan: RuleScan | null) =>
      isBlocked === (scan === null) ? passed(text) : ruleVerdict(text, scan ?? { matches: [] }, report);
    const check = ruleCheck(set, verdict);
    const span = deobfuscate ? MAX_DISGUISED_LENGTH : Math.max(...patterns.map(longestMatch));
    const isLocal = isBlocked && matchType !== "fullmatch";
    return {
      sanitizes,
      leavesFindings: sanitizes && matchType === "search",
      ...(isLocal ? { streaming: { reads: "spans", span, across: span } as const } : {}),
      async check(text, context) {
        try {
          return await check(text, context);
        } catch (error) {
          return refuse(error);
        }
      },
    };
  },
});

/** Rejects the scan if a pattern could not be searched for. Such a scan must never pass a text. */
function refuse(error: unknown): never {
  const issue = issueOf(error);
  throw issue ? new GuardError("GUARD_PATTERN", `${issue.path}: ${issue.message}`, { cause: error }) : error;
}
