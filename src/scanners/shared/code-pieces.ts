import { z } from "zod";
import { GuardError, GuardValidationError, madeFrom } from "../../errors.ts";
import { LinearClassifier } from "../../models/linear.ts";
import { native, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import { linearOptions } from "./model-options.ts";

/** The options of a scanner that looks for code. */
export function codeOptions(threshold: number) {
  return {
    ...commonOptions,
    model: z
      .string()
      .min(1)
      .default("embedded:code")
      .describe(
        "embedded:<name>, or a folder with the config.json and model.bin of a linear model with the label none.",
      ),
    threshold: thresholdOption(threshold, "A text fails when the probability of a piece of it is above this."),
    ...linearOptions,
  };
}

/** How a scanner judges a piece of code: the probability that it must not be there, and the language that it names. */
export interface Judgement {
  score: number;
  label: string;
}

/** A piece of a text as the model sees it. */
export interface CodePiece {
  /** The probability that it is code. */
  code: number;
  /** The probability that it is code in one of the listed languages, and the most probable of these. */
  listed: number;
  listedLabel?: string | undefined;
  /** The most probable of the other languages. */
  otherLabel?: string | undefined;
}

type CodeSchema = z.ZodObject<ReturnType<typeof codeOptions>>;

/**
 * What scanners that look for code share: fenced blocks, code spans and lines that look like code are found and judged one by
 * one, so that code counts wherever it stands in prose; the worst piece decides. A text without such pieces is judged as a whole.
 */
export abstract class CodePieces<Schema extends CodeSchema> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #model: LinearClassifier;
  readonly #threshold: number;
  /** Places of the listed languages among the labels of the model. */
  readonly #listed: number[];

  protected constructor(type: string, schema: Schema, options: z.input<Schema>, languages?: readonly string[]) {
    super(type, schema, options);
    this.#model = madeFrom("model", () => new LinearClassifier((this.options as z.output<CodeSchema>).model));
    this.#threshold = resolveThreshold(type, this.options as z.output<CodeSchema>, this.#model.folder);
    this.#listed = this.#places(languages);
  }

  async load(): Promise<void> {
    await this.#model.load();
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected abstract judge(piece: CodePiece): Judgement;

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    const threshold = this.#threshold;
    const model = await this.#model.load();
    const find = text.length <= SHORT_TEXT ? "findCode" : "findCodeLong";
    const pieces = await native(() => model[find](text, this.#listed));
    if (pieces.length === 0) return passed(text);
    const judged = pieces.map((piece) => ({ piece, ...this.judge(piece) }));
    const findings = judged
      .filter(({ score }) => score > threshold)
      .map(
        ({ piece: { start, end }, score, label }): Finding => ({
          start,
          end,
          type: "code",
          text: text.slice(start, end),
          score,
          label,
        }),
      );
    const worst = judged.reduce((most, { score }) => Math.max(most, score), 0);
    return {
      isValid: findings.length === 0,
      score: riskScore(worst, threshold),
      probability: worst,
      findings,
      coverage: wholeText(text, pieces.length),
    };
  }

  /** Where languages stand among the labels; all of them when none are named. */
  #places(languages?: readonly string[]): number[] {
    const { labels, aliases } = this.#model.described();
    const code = labels.filter((label) => label !== NONE);
    if (code.length === labels.length) {
      throw new GuardError("GUARD_MODEL", `the model ${this.#model.folder} has no label ${NONE}`);
    }
    const byName = new Map([...Object.entries(aliases), ...code.map((label) => [label.toLowerCase(), label] as const)]);
    const issues = (languages ?? []).flatMap((language, index) =>
      byName.has(language.toLowerCase())
        ? []
        : [{ path: `languages.${index}`, message: `unknown language ${language}; known are: ${code.join(", ")}` }],
    );
    if (issues.length > 0) throw new GuardValidationError(issues);
    const names = languages?.map((language) => byName.get(language.toLowerCase()) as string) ?? code;
    return [...new Set(names.map((name) => labels.indexOf(name)))];
  }
}

/** The label of what is not code. */
const NONE = "none";
