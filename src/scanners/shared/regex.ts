import { z } from "zod";
import { GuardError, GuardValidationError, type ValidationIssue } from "../../errors.ts";
import { addon, fromNative, native, type PatternSet, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict } from "../../scanner.ts";
import { ruleVerdict } from "./rule-verdict.ts";

const schema = z.strictObject({
  ...commonOptions,
  patterns: z
    .array(z.string().min(1))
    .min(1)
    .describe("Regular expressions, in the syntax of Rust's regex crate and Python's re."),
  isBlocked: z.boolean().default(true).describe("true: a match fails the text. false: a text without any match fails."),
  matchType: z
    .enum(["search", "fullmatch", "all"])
    .default("search")
    .describe("search: the first match of each pattern. fullmatch: the whole text. all: every match."),
  redact: z.boolean().default(true).describe("Replaces matches of blocked patterns by [REDACTED]."),
});

/**
 * Blocks texts that match a pattern, or lets only texts pass that match one.
 *
 * Patterns run in linear time. One with look-around or back-references runs under a step limit; reaching it is an error,
 * never a pass. Unlike llm-guard 0.3.16, which stops at the first pattern that matches and leaves what later patterns would
 * match in the text, all patterns are applied.
 */
export class Regex extends BaseScanner<typeof schema> {
  static readonly type = "Regex";
  static readonly options = schema;
  readonly #patterns: PatternSet;

  /** @throws GuardValidationError for an invalid pattern, with its place in `patterns` and the offset of the error. */
  constructor(options: z.input<typeof schema>) {
    super(Regex.type, schema, options);
    this.#patterns = compile(this.options.patterns);
  }

  get sanitizes(): boolean {
    return this.options.isBlocked && this.options.redact;
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    const { patterns, isBlocked, matchType, redact } = this.options;
    const scan = text.length <= SHORT_TEXT ? "scan" : "scanLong";
    const found = await native(() => this.#patterns[scan](text, matchType as never, isBlocked && redact)).catch(
      (error: unknown) => {
        const issue = patternIssue(error);
        throw issue ? new GuardError("GUARD_PATTERN", `${issue.path}: ${issue.message}`, { cause: error }) : error;
      },
    );
    return isBlocked === found.matches.length > 0 ? ruleVerdict(text, found, "pattern", patterns) : passed(text);
  }
}

function compile(patterns: string[]): PatternSet {
  try {
    return new addon.PatternSet(patterns);
  } catch (error) {
    const issue = patternIssue(fromNative(error));
    throw issue ? new GuardValidationError([issue], { cause: error }) : error;
  }
}

/** The addon names the pattern at fault by its index: `2|unclosed group`. */
function patternIssue(error: unknown): ValidationIssue | undefined {
  if (!(error instanceof GuardError) || error.code !== "GUARD_PATTERN") return undefined;
  const [, index, message] = /^(\d+)\|(.*)$/s.exec(error.message) ?? [];
  return { path: `patterns.${index}`, message: message ?? error.message };
}
