import { z } from "zod";
import { GuardError, GuardValidationError, type ValidationIssue } from "../../errors.ts";
import { addon, fromNative, native, nativeNow, type PatternSet, type RuleScan, SHORT_TEXT } from "../../native.ts";
import { commonOptions, ruleOptions } from "../../options.ts";
import { BaseScanner, passed, type Verdict } from "../../scanner.ts";
import { ruleVerdict } from "./rule-verdict.ts";

const schema = z.strictObject({
  ...commonOptions,
  ...ruleOptions,
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
 *
 * With `deobfuscate`, a match in what the text says otherwise redacts all of the piece that says it, such as a whole run of
 * base64. With `search` and `fullmatch`, a pattern counts in the text as it is first; with `all`, what only repeats a match
 * in the text as it is is left out. Scanning a redacted text again leaves its [REDACTED] as they are, even where a pattern
 * such as `[A-Z]+` matches a part of one; the text still fails then.
 */
export class Regex extends BaseScanner<typeof schema> {
  static readonly type = "Regex";
  static readonly options = schema;
  readonly #patterns: PatternSet;
  readonly #scan: (text: string) => RuleScan | null;
  /** Whether the patterns are kept off the event loop for short texts too. */
  readonly #costly: boolean;

  /** @throws GuardValidationError for an invalid pattern, with its place in `patterns` and the offset of the error. */
  constructor(options: z.input<typeof schema>) {
    super(Regex.type, schema, options);
    if (this.options.deobfuscate && !this.options.isBlocked) {
      // A text would pass for what it can be made to say.
      const message = "goes with blocked patterns only; a text that must match has to match as it is";
      throw new GuardValidationError([{ path: "deobfuscate", message }]);
    }
    this.#patterns = this.#compile();
    this.#scan = this.#patterns.scanner();
    this.#costly = this.#patterns.costly;
  }

  get sanitizes(): boolean {
    return this.options.isBlocked && this.options.redact;
  }

  protected check(text: string): Verdict | Promise<Verdict> {
    if (text.length > SHORT_TEXT || this.#costly) {
      return native(() => this.#patterns.scanLong(text)).then((scan) => this.#verdict(text, scan), refuse);
    }
    let scan: RuleScan | null;
    try {
      scan = nativeNow(() => this.#scan(text));
    } catch (error) {
      return refuse(error);
    }
    return this.#verdict(text, scan);
  }

  #verdict(text: string, scan: RuleScan | null): Verdict {
    const { patterns, isBlocked } = this.options;
    if (isBlocked === (scan === null)) return passed(text);
    return ruleVerdict(text, scan ?? { matches: [] }, "pattern", patterns);
  }

  #compile(): PatternSet {
    const { patterns, matchType, deobfuscate } = this.options;
    try {
      return new addon.PatternSet(patterns, {
        matchType: matchType as never,
        deobfuscate,
        replace: this.sanitizes,
      });
    } catch (error) {
      const issue = patternIssue(fromNative(error));
      throw issue ? new GuardValidationError([issue], { cause: error }) : error;
    }
  }
}

/** A pattern that could not be searched for must never let a text pass. */
function refuse(error: unknown): never {
  const issue = patternIssue(error);
  throw issue ? new GuardError("GUARD_PATTERN", `${issue.path}: ${issue.message}`, { cause: error }) : error;
}

/** The addon names the pattern at fault by its index: `2|unclosed group`. */
function patternIssue(error: unknown): ValidationIssue | undefined {
  if (!(error instanceof GuardError) || error.code !== "GUARD_PATTERN") return undefined;
  const [, index, message] = /^(\d+)\|(.*)$/s.exec(error.message) ?? [];
  return { path: `patterns.${index}`, message: message ?? error.message };
}
