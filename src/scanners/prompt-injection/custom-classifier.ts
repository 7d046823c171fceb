import pLimit from "p-limit";
import type { CallContext } from "../../models/call-context.ts";
import type { LabelScore } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { Abortable } from "../../native.ts";
import type { Source } from "../../scan/source.ts";
import { GuardError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";
import { describeKind } from "../../support/schema-messages.ts";
import { splitSentences } from "../../text/sentences.ts";
import { isNumberIn } from "../../text/span.ts";
import { type ScoredText, scoreViews } from "../parts/scored-text.ts";
import {
  type AttackDetection,
  type InjectionDetector,
  type InjectionPart,
  likeliestLabel,
  sumOfScores,
} from "./injection-part.ts";

/**
 * A classifier of the caller. It returns the probability of an injection, this probability with a category, or the probabilities of all
 * labels. In the last case the probabilities of the labels in `injectionLabels` are added up.
 */
export type InjectionClassifier = (text: string, context: Abortable) => ClassifierAnswer | Promise<ClassifierAnswer>;
export type ClassifierAnswer = number | { score: number; category?: string } | readonly LabelScore[];

/** How many sentences a classifier reads at the same time. */
const CONCURRENCY = 8;

interface ClassifierSettings {
  injectionLabels: readonly string[];
  matchType: LongTextStrategy;
  deobfuscate: boolean;
}

/** Finds injections with a classifier of the caller. It reads each sentence with the strategy `sentence`, and otherwise all of a text. */
export class ClassifierDetector implements InjectionDetector {
  readonly folder = undefined;
  readonly #classifier: InjectionClassifier;
  readonly #settings: ClassifierSettings;

  constructor(classifier: InjectionClassifier, settings: ClassifierSettings) {
    this.#classifier = classifier;
    this.#settings = settings;
  }

  async load(): Promise<void> {}

  async close(): Promise<void> {}

  score(text: string, _source: Source, context: CallContext): Promise<ScoredText<InjectionPart>> {
    const scoreView = async (view: string) => ({
      parts: await this.#scoreParts(view, context),
      skipped: 0,
      untrained: [],
    });
    return scoreViews<InjectionPart>(text, this.#settings, scoreView, context);
  }

  async #scoreParts(text: string, { signal }: CallContext): Promise<InjectionPart[]> {
    const { matchType, injectionLabels } = this.#settings;
    const whole = { start: 0, end: text.length, text };
    const parts = matchType === "sentence" ? await splitSentences(text, { signal }) : [whole];
    const limit = pLimit(CONCURRENCY);
    try {
      return await Promise.all(
        parts.map(({ start, end, text }) =>
          limit(async () => ({
            start,
            end,
            ...detectionOf(await this.#classifier(text, { signal }), injectionLabels),
          })),
        ),
      );
    } finally {
      limit.clearQueue();
    }
  }
}

/**
 * Converts an answer of a classifier to one form. A value that is no number must not be read as a number: `null` would be 0, and pass.
 *
 * @throws GuardError `GUARD_SCANNER` that names the field at fault, and quotes no text.
 */
function detectionOf(answer: ClassifierAnswer | undefined, injectionLabels: readonly string[]): AttackDetection {
  if (typeof answer === "number") return { score: probabilityOf(answer, ""), category: "", attack: "" };
  if (Array.isArray(answer)) {
    // Array.from visits holes as well, which map would leave out.
    const scores = Array.from(answer as readonly Partial<LabelScore>[], (given, index) => {
      const { label, score } = given ?? {};
      return { label: textOf(label, `label of ${index}`), score: probabilityOf(score, `score of ${index}`) };
    });
    const attacks = scores.filter(({ label }) => injectionLabels.includes(label));
    if (attacks.length === 0) throw wrongAnswer("none of the labels", "one of injectionLabels");
    return { score: sumOfScores(attacks), category: likeliestLabel(scores), attack: likeliestLabel(attacks) };
  }
  if (!isRecord(answer)) throw wrongAnswer(describeKind(answer), "a probability in 0..1");
  const { score, category: given } = answer as { score?: unknown; category?: unknown };
  const category = given === undefined ? "" : textOf(given, "category");
  return { score: probabilityOf(score, "score"), category, attack: category };
}

/** Classifiers add up probabilities in single precision, so a little more than 1 still counts as 1. */
function probabilityOf(value: unknown, field: string): number {
  if (isNumberIn(value, 0, 1 + 1e-6)) return Math.min(1, value as number);
  throw wrongAnswer(typeof value === "number" ? value : describeKind(value), "a probability in 0..1", field);
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw wrongAnswer(describeKind(value), "a text", field);
}

function wrongAnswer(given: string | number, expected: string, field = ""): GuardError {
  const where = field && ` as ${field}`;
  return new GuardError("GUARD_SCANNER", `the classifier returned ${given}${where} instead of ${expected}`);
}
