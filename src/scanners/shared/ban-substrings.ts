import { z } from "zod";
import { addon, native, nativeNow, type RuleScan, SHORT_TEXT, type SubstringSet } from "../../native.ts";
import { commonOptions, ruleOptions } from "../../options.ts";
import { BaseScanner, passed, type Verdict } from "../../scanner.ts";
import { ruleVerdict } from "./rule-verdict.ts";

const schema = z.strictObject({
  ...commonOptions,
  ...ruleOptions,
  substrings: z.array(z.string().min(1)).min(1).describe("Texts to look for, taken literally."),
  matchType: z.enum(["str", "word"]).default("str").describe("str: anywhere. word: whole words only."),
  caseSensitive: z.boolean().default(false).describe("Whether upper and lower case differ."),
  redact: z.boolean().default(false).describe("Replaces the first occurrence of each substring by [REDACTED]."),
  redactAll: z
    .boolean()
    .default(false)
    .describe("Replaces every occurrence, as llm-guard 0.3.16 does; implies redact."),
  containsAll: z.boolean().default(false).describe("Only a text that contains all of the substrings fails."),
});

/**
 * Blocks texts that contain one of the substrings, or all of them.
 *
 * With `deobfuscate`, a substring that only the decoded text contains redacts all of the piece that says it, such as a whole
 * run of base64; the first occurrence is one in the text as it is, if there is any; and each of all the substrings may be
 * found in the text or in what it says.
 */
export class BanSubstrings extends BaseScanner<typeof schema> {
  static readonly type = "BanSubstrings";
  static readonly options = schema;
  readonly #substrings: SubstringSet;
  readonly #scan: (text: string) => RuleScan | null;

  constructor(options: z.input<typeof schema>) {
    super(BanSubstrings.type, schema, options);
    const { substrings, matchType, caseSensitive, redactAll, deobfuscate } = this.options;
    this.#substrings = new addon.SubstringSet(substrings, {
      words: matchType === "word",
      caseSensitive,
      all: redactAll,
      deobfuscate,
      replace: this.sanitizes,
    });
    this.#scan = this.#substrings.scanner();
  }

  get sanitizes(): boolean {
    return this.options.redact || this.options.redactAll;
  }

  protected check(text: string): Verdict | Promise<Verdict> {
    return text.length <= SHORT_TEXT
      ? this.#verdict(
          text,
          nativeNow(() => this.#scan(text)),
        )
      : native(() => this.#substrings.scanLong(text)).then((scan) => this.#verdict(text, scan));
  }

  #verdict(text: string, scan: RuleScan | null): Verdict {
    if (!scan) return passed(text);
    const { substrings, containsAll } = this.options;
    const fails = !containsAll || new Set(scan.matches.map(({ rule }) => rule)).size === substrings.length;
    return fails ? ruleVerdict(text, scan, "substring", substrings) : passed(text);
  }
}
