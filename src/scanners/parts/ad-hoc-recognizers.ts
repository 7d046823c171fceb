import { z } from "zod";
import { type Abortable, addon, native, type PersonalData, type PiiFinding } from "../../native.ts";
import type { Explanation } from "../../scan/scanner.ts";
import { GuardError, GuardValidationError, issueOf, type ValidationIssue } from "../../support/errors.ts";
import { parseOptions } from "../../support/options.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { piiScanOf } from "./pii-scan.ts";
import { ENTITY_TYPE } from "./recognizers.ts";

/** The maximum numbers of a list of ad-hoc recognizers, of its patterns and of its words. */
const MAX_RECOGNIZERS = 20;
const MAX_PATTERNS = 100;
const MAX_WORDS = 2000;

/** What precedes the recognizer and its pattern in the ids of findings. No embedded recognizer has this prefix. */
const PREFIX = "ad_hoc_recognizers";
/** Presidio compiles patterns with IGNORECASE, MULTILINE and DOTALL (`global_regex_flags` of its PatternRecognizer). */
const FLAGS = "(?ims)";

const name = z.string().min(1).max(100);

const adHocPattern = z
  .strictObject({
    name: name.describe("Name of the pattern, for explanations."),
    regex: z
      .string()
      .min(1)
      .max(1000)
      .describe(
        "Regular expression, which takes linear time: no look-around and no back-references. As in Presidio, case is ignored, ^ and $ match at lines, and . matches line breaks.",
      ),
    score: z.number().min(0).max(1).describe("The score of a match."),
  })
  .describe("A pattern of a recognizer.");

/** A recognizer in the JSON of Presidio's `ad_hoc_recognizers`. */
export const adHocRecognizer = z
  .strictObject({
    name: name.describe("Name of the recognizer, for explanations and the audit log."),
    supported_entity: z
      .string()
      .regex(ENTITY_TYPE, "expected a name without spaces and brackets")
      .describe("The type of its findings."),
    supported_language: z
      .string()
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "expected the code of a language, such as en")
      .nullish()
      .describe("It is skipped by scanners whose option language is another one."),
    patterns: z.array(adHocPattern).max(MAX_RECOGNIZERS).nullish().describe("Any of them may match."),
    deny_list: z
      .array(z.string().min(1).max(200))
      .max(1000)
      .nullish()
      .describe("Texts that are found as whole words, in any case."),
    deny_list_score: z.number().min(0).max(1).nullish().describe("The score of a text of deny_list. Default: 1."),
    context: z
      .array(z.string().min(1).max(100))
      .max(50)
      .nullish()
      .describe("Words that add 0.35 to the score of a match nearby, which is then at least 0.4."),
    version: name.nullish().describe("Ignored."),
  })
  .describe("A recognizer of personal data, in the JSON of Presidio. It has patterns, a deny_list, or both.");

export const adHocRecognizers = z.array(adHocRecognizer).max(MAX_RECOGNIZERS);

/** A recognizer in the JSON of Presidio's `ad_hoc_recognizers`. */
export type AdHocRecognizer = z.input<typeof adHocRecognizer>;

/** Where the matches of a pattern or of a deny list come from. */
interface MatchSource {
  recognizer: AdHocRecognizer;
  /** The name of the pattern. Absent for the deny list. */
  pattern?: string;
  /** The path of the pattern or the deny list in the given list. */
  path: string;
}

/** Recognizers for single calls, compiled once. Their patterns take linear time, whoever wrote them. */
export class AdHocRecognizers {
  /** The checked recognizers. */
  readonly given: readonly AdHocRecognizer[];
  /** By the index of the native pattern. */
  readonly #sources: MatchSource[] = [];
  readonly #native: PersonalData;

  /** @throws GuardValidationError with the path of every invalid value, such as `0.patterns.1.regex`. */
  constructor(given: readonly AdHocRecognizer[]) {
    this.given = parseOptions(adHocRecognizers, given);
    const issues = countIssues(this.given);
    if (issues.length > 0) throw new GuardValidationError(issues);
    const patterns = this.given.flatMap((recognizer, index) => this.#patternsOf(recognizer, index));
    this.#native = this.#build({
      ...{ entities: [], languages: [], hidden: [], allowed: [] },
      ...{ patterns, isRequest: true, threshold: 0, isStrict: false, names: false },
    });
  }

  /** The names and types of the recognizers. */
  get summary(): { name: string; entity: string }[] {
    return this.given.map(({ name, supported_entity }) => ({ name, entity: supported_entity.toUpperCase() }));
  }

  /** The length of the longest text of a deny list. */
  get longestText(): number {
    return Math.max(0, ...this.given.flatMap(({ deny_list }) => (deny_list ?? []).map(({ length }) => length)));
  }

  /**
   * Finds the matches in a text, but not in placeholders.
   *
   * @param language the language of the text, if it is known.
   */
  async find(
    text: string,
    placeholders: string[],
    language: string | undefined,
    { signal }: Abortable,
  ): Promise<PiiFinding[]> {
    try {
      const found = await native(() => this.#native.find(text, [], placeholders), { signal });
      const { findings } = await piiScanOf(found, new TimeSlice(signal));
      return findings.filter(({ recognizer }) => isOfLanguage(this.#sourceOf(recognizer)?.recognizer, language));
    } catch (error) {
      const issue = issueOf(error);
      if (!issue) throw error;
      throw new GuardError("GUARD_PATTERN", `${PREFIX}: a pattern takes too long in this text`, { cause: error });
    }
  }

  /** Explains a finding of these recognizers. Undefined for a finding of anything else. */
  explanationOf({ recognizer: id, context }: PiiFinding): Explanation | undefined {
    const source = this.#sourceOf(id);
    if (!source) return undefined;
    return {
      by: "ad_hoc_recognizer",
      id: source.recognizer.name,
      ...(source.pattern === undefined ? {} : { pattern: source.pattern }),
      ...(context === undefined ? {} : { context }),
    };
  }

  #patternsOf(recognizer: AdHocRecognizer, index: number) {
    const { supported_entity, patterns, deny_list, deny_list_score, context } = recognizer;
    const common = { entity: supported_entity.toUpperCase(), context: [...(context ?? [])], languages: [] };
    const add = (path: string, pattern?: string) =>
      `${PREFIX}.${this.#sources.push({ recognizer, path, ...(pattern === undefined ? {} : { pattern }) }) - 1}`;
    const made = (patterns ?? []).map(({ name, regex, score }, number) => ({
      ...{ id: add(`${index}.patterns.${number}.regex`, name), expressions: [`${FLAGS}${regex}`], words: [], score },
      ...common,
    }));
    if (!deny_list || deny_list.length === 0) return made;
    const words = { id: add(`${index}.deny_list`), expressions: [], words: [...deny_list] };
    return [...made, { ...words, ...common, score: deny_list_score ?? 1 }];
  }

  #build(options: ConstructorParameters<typeof PersonalData>[0]): PersonalData {
    try {
      return native(() => new addon.PersonalData(options)) as PersonalData;
    } catch (error) {
      const issue = issueOf(error);
      if (!issue) throw error;
      // The addon numbers the patterns of all recognizers.
      const message = issue.message.replace(/^pattern \d+ /, "");
      throw new GuardValidationError([{ path: this.#pathOf(issue.path), message }], { cause: error });
    }
  }

  #sourceOf(id: string): MatchSource | undefined {
    return id.startsWith(`${PREFIX}.`) ? this.#sources[Number(id.slice(PREFIX.length + 1))] : undefined;
  }

  /** Returns the path in the given list of a path in the addon's options, such as `patterns.3.expressions.0`. */
  #pathOf(path: string): string {
    const [, index, words] = /^patterns\.(\d+)(?:\.words(\.\d+))?/.exec(path) ?? [];
    return `${this.#sources[Number(index)]?.path ?? ""}${words ?? ""}`;
  }
}

/** Checks what the schema of one recognizer can't check. */
function countIssues(given: readonly AdHocRecognizer[]): ValidationIssue[] {
  const count = (of: (recognizer: AdHocRecognizer) => readonly unknown[] | null | undefined) =>
    given.reduce((sum, recognizer) => sum + (of(recognizer)?.length ?? 0), 0);
  const empty = given.flatMap(({ patterns, deny_list }, index) =>
    (patterns?.length ?? 0) + (deny_list?.length ?? 0) > 0
      ? []
      : [{ path: String(index), message: "needs patterns or a deny_list" }],
  );
  const tooMany = (number: number, max: number, what: string) =>
    number > max ? [{ path: "", message: `all recognizers together may have at most ${max} ${what}` }] : [];
  return [
    ...empty,
    ...tooMany(
      count(({ patterns }) => patterns),
      MAX_PATTERNS,
      "patterns",
    ),
    ...tooMany(
      count(({ deny_list }) => deny_list),
      MAX_WORDS,
      "texts in deny lists",
    ),
  ];
}

function isOfLanguage(recognizer: AdHocRecognizer | undefined, language: string | undefined): boolean {
  const supported = recognizer?.supported_language?.toLowerCase().split("-")[0];
  return supported === undefined || language === undefined || supported === language;
}
