import { z } from "zod";
import { addon, buildNative, type RuleScan } from "../native.ts";
import { passed } from "../scan/scanner.ts";
import { GuardError, GuardValidationError, issueOf } from "../support/errors.ts";
import { isPromise } from "../support/maybe-async.ts";
import { ruleOptions } from "./common-options.ts";
import { defineScanner } from "./definition.ts";
import { longestMatch } from "./parts/open-spans.ts";
import { ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

/** The longest match that is held as a whole where letters may stand apart. */
const LONGEST_DISGUISED = 128;

export const Regex = defineScanner({
  type: "Regex",
  summary: "Blocks texts that match a pattern, or lets only texts pass that match one.",
  description:
    "Patterns mean what they mean in Python's `re`. What guard cannot read so, such as `\\N{BULLET}` and `(?a)`, is an error at the start, " +
    "and so is what Python does not know and others read differently, such as `\\h`.\n\n" +
    "Patterns run in linear time. One with look-around or back-references runs under a step limit; reaching it is an error, never a " +
    "pass. llm-guard 0.3.16 stops at the first pattern that matches, and leaves in the text what later patterns would match; here " +
    "all patterns are applied.\n\n" +
    "With `deobfuscate`, a match in what the text says otherwise redacts all of the piece that says it, such as a whole run of " +
    "base64. With `search` and `fullmatch`, a pattern counts in the text as it is first; with `all`, what only repeats a match in " +
    "the text as it is is left out. Scanning a redacted text again leaves its [REDACTED] as they are, even where a pattern such as " +
    "`[A-Z]+` matches a part of one; the text still fails then.",
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
      .describe("true: a match fails the text. false: a text without any match fails."),
    matchType: z
      .enum(["search", "fullmatch", "all"])
      .default("search")
      .describe("search: the first match of each pattern. fullmatch: the whole text. all: every match."),
    redact: z.boolean().default(true).describe("Replaces matches of blocked patterns by [REDACTED]."),
  }),
  differences: [
    {
      without: ["matchType"],
      text: "The first match of each pattern is found (`search`), as llm-guard's documentation says; on input llm-guard itself finds all of them, which is `match_type: all` here.",
    },
    {
      text: "Every pattern is applied. llm-guard stops at the first one that matches, and leaves in the text what the others would match.",
    },
    {
      text: "Names of characters (`\\N{BULLET}`) and the flag `(?a)` of Python are errors at the start, never read as something else.",
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
      // Views are additional texts to search. If patterns had to match, a text could pass because of one of its views, although the
      // text as it is written does not match.
      const message = "goes with blocked patterns only; a text that must match has to match as it is";
      throw new GuardValidationError([{ path: "deobfuscate", message }]);
    }
    const sanitizes = isBlocked && redact;
    const set = buildNative(() => new addon.PatternSet(patterns, { matchType, deobfuscate, replace: false }));
    const report = { type: "pattern", labels: patterns, redacts: sanitizes };
    const verdict = (text: string, scan: RuleScan | null) =>
      isBlocked === (scan === null) ? passed(text) : ruleVerdict(text, scan ?? { matches: [] }, report);
    const check = ruleCheck(set, verdict);
    const span = deobfuscate ? LONGEST_DISGUISED : Math.max(...patterns.map(longestMatch));
    const isLocal = isBlocked && matchType !== "fullmatch";
    return {
      sanitizes,
      leavesFindings: sanitizes && matchType === "search",
      ...(isLocal ? { streaming: { reads: "spans", span, across: span } as const } : {}),
      check(text, context) {
        try {
          const verdict = check(text, context);
          return isPromise(verdict) ? verdict.catch(refuse) : verdict;
        } catch (error) {
          return refuse(error);
        }
      },
    };
  },
});

/** Rejects a scan whose pattern could not be searched for. Such a scan must never let a text pass. */
function refuse(error: unknown): never {
  const issue = issueOf(error);
  throw issue ? new GuardError("GUARD_PATTERN", `${issue.path}: ${issue.message}`, { cause: error }) : error;
}
