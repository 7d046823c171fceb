import pLimit from "p-limit";
import { z } from "zod";
import { GuardError, GuardValidationError, madeFrom } from "../../errors.ts";
import { Classifier, MODEL_DESCRIPTION, READINGS } from "../../models/model.ts";
import type { Passes } from "../../models/passes.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { splitSentences } from "../../sentences.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import {
  coverageOf,
  deobfuscateOption,
  failing,
  type ScoredPart,
  type ScoredText,
  scoreDisguised,
  worstOf,
} from "../shared/disguises.ts";
import { engineOptions } from "../shared/model-options.ts";

/** The probability of one label, as classifiers report it. */
export interface LabelScore {
  label: string;
  score: number;
}

/**
 * A classifier of the caller's own. It answers with the probability of an injection, the same with a category, or the
 * probabilities of all labels, of which those in `injectionLabels` are added up.
 */
export type InjectionClassifier = (text: string, signal?: AbortSignal) => ClassifierAnswer | Promise<ClassifierAnswer>;
export type ClassifierAnswer = number | { score: number; category?: string } | readonly LabelScore[];

/** Sentences that a caller's classifier is asked for at a time. */
const PARALLEL = 8;

/** What {@link PromptInjection.detect} says. */
export interface Detection {
  /** Probability of an injection, 0..1: that of the part of the text where it is highest. */
  score: number;
  /**
   * What that part is: for an attack `override`, `extraction`, `jailbreak` or `indirect` with the embedded model, which has a head of
   * its own for it; otherwise the model's most probable label, such as `SAFE`.
   */
  category: string;
}

const schema = z.strictObject({
  ...commonOptions,
  model: z.string().min(1).default("embedded:prompt-injection").describe(MODEL_DESCRIPTION),
  threshold: thresholdOption(0.92, "A text fails when its probability is above this."),
  matchType: z
    .enum(READINGS)
    .default("windows")
    .describe(
      "windows: all of the text, in overlapping pieces where it is longer than the model reads at once. full: its beginning. " +
        "sentence: each sentence. " +
        "truncate_token_head_tail, truncate_head_tail: beginning and end. chunks: pieces of 256 characters.",
    ),
  ...engineOptions(),
  injectionLabels: z
    .array(z.string().min(1))
    .min(1)
    .default(["INJECTION"])
    .describe("Labels of the model that mean an injection; the probabilities of several are added up."),
  deobfuscate: deobfuscateOption,
  classifier: z
    .custom<InjectionClassifier>((value) => typeof value === "function", "expected a function")
    .optional()
    .describe(
      "A function that takes the place of the model. It is given each sentence with match_type sentence, otherwise all of a text.",
    ),
});

/**
 * The probability of an attack in one of a text's windows, where `probability` is that of the window alone.
 *
 * By Bayes' rule, when an attack is as probable beforehand in a long text as in a short one: each of its windows has that share of
 * the odds. Otherwise every long text would fail in the end, as each window is another chance of a false alarm.
 */
function amongWindows(probability: number, windows: number): number {
  return probability / (probability + windows * (1 - probability));
}

/** The labels of a head, which head it is, and which of its labels mean an injection. */
interface LabelPlaces {
  labels: readonly string[];
  injection: { head: number; indices: readonly number[] };
  /** The head that says what kind of attack it is, where the model has one. */
  category?: { head: number; labels: readonly string[] };
}

/** A {@link Detection} with what the part is if it is an attack: below one half, the likeliest label may say that it is none. */
type JudgedDetection = Detection & { attack: string };

/** A part of a text with the probability of an injection in it. */
type InjectionPart = ScoredPart & JudgedDetection;

/**
 * Detects prompt injections: attempts to override instructions, to extract the system prompt, to break out of a role; in
 * prompts, documents and tool results.
 *
 * The default reads all of a text, and what it hides besides; the odds of a window are divided by the number of windows.
 * llm-guard's default was `full`, which looks at the beginning only, and it reads a text as it is written (`deobfuscate:
 * false`). A finding in another reading has the place of what was read, such as a run of base64, and the `view`.
 */
export class PromptInjection extends BaseScanner<typeof schema> {
  static readonly type = "PromptInjection";
  static readonly options = schema;
  readonly sanitizes = false;
  readonly #model: Classifier | undefined;
  readonly #threshold: number;
  #located: LabelPlaces | undefined;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    super(PromptInjection.type, schema, options);
    if (!this.options.classifier) {
      this.#model = madeFrom("model", () => new Classifier(this.options.model, this.options.modelMaxLength));
    }
    this.#threshold = resolveThreshold(PromptInjection.type, this.options, this.#model?.folder);
  }

  /** Loads the model and checks that it has the injection labels. */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model?.load(signal);
    await this.#labels(signal);
  }

  /**
   * The probability of an injection, whatever the threshold.
   *
   * @returns score 0 for a blank text.
   */
  async detect(text: string, signal?: AbortSignal, passes?: Passes): Promise<Detection> {
    const { parts, others } = await this.#score(text, signal, passes);
    const { score, category } = worstOf([...parts, ...others]) ?? { score: 0, category: "" };
    return { score, category };
  }

  async close(): Promise<void> {
    await this.#model?.close();
  }

  protected async check(text: string, { signal, passes }: ScanContext): Promise<Verdict> {
    const threshold = this.#threshold;
    const scored = await this.#score(text, signal, passes);
    const coverage = coverageOf(text, scored);
    const worst = worstOf([...scored.parts, ...scored.others]);
    if (!worst) return passed(text, coverage);
    const findings = failing(scored, threshold).map(
      ({ start, end, score, attack, view }): Finding => ({
        start,
        end,
        type: "injection",
        text: text.slice(start, end),
        score,
        label: attack,
        ...(view === undefined ? {} : { view }),
      }),
    );
    const score = riskScore(worst.score, threshold);
    return { isValid: findings.length === 0, score, probability: worst.score, findings, coverage };
  }

  #score(text: string, signal?: AbortSignal, passes?: Passes): Promise<ScoredText<InjectionPart>> {
    return scoreDisguised(text, this.options, (reading) => this.#scoreReading(reading, signal, passes));
  }

  async #scoreReading(
    text: string,
    signal?: AbortSignal,
    passes?: Passes,
  ): Promise<Pick<ScoredText<InjectionPart>, "parts" | "skipped">> {
    if (this.options.classifier) {
      const parts =
        this.options.matchType === "sentence" ? splitSentences(text) : [{ start: 0, end: text.length, text }];
      const limit = pLimit(PARALLEL);
      try {
        const scored = parts.map(({ start, end, text }) =>
          limit(async () => ({ start, end, ...(await this.#ask(text, signal)) })),
        );
        return { parts: await Promise.all(scored), skipped: 0 };
      } finally {
        limit.clearQueue();
      }
    }
    const { labels, injection, category } = await this.#labels(signal);
    const model = this.#model as Classifier;
    const { parts, skippedChars } = await model.classify(text, this.options.matchType, signal, passes);
    return {
      skipped: skippedChars,
      parts: parts.map(({ start, end, heads }) => {
        const scores = heads[injection.head] ?? [];
        const label = top(labels, scores);
        const isInjection = this.options.injectionLabels.includes(label);
        const attack = category
          ? top(category.labels, heads[category.head] ?? [])
          : top(
              injection.indices.map((index) => labels[index] as string),
              injection.indices.map((index) => scores[index] ?? 0),
            );
        const probability = sum(injection.indices.map((index) => scores[index] ?? 0));
        return {
          start,
          end,
          score: this.options.matchType === "windows" ? amongWindows(probability, parts.length) : probability,
          category: isInjection ? attack : label,
          attack,
        };
      }),
    };
  }

  /** Where the injection labels stand in the model's answer. Looked up once: a text must not cost a call for it. */
  async #labels(signal?: AbortSignal): Promise<LabelPlaces> {
    if (this.#located) return this.#located;
    if (!this.#model) return { labels: [], injection: { head: 0, indices: [] } };
    const { heads } = await this.#model.described(signal);
    const { injectionLabels } = this.options;
    const head = heads.findIndex(
      ({ labels, kinds }) => kinds === undefined && injectionLabels.every((label) => labels.includes(label)),
    );
    if (head < 0) {
      const known = heads.flatMap(({ labels }) => labels).join(", ");
      throw new GuardValidationError([
        {
          path: "injectionLabels",
          message: `the model has no label ${injectionLabels.join(", ")}; its labels are: ${known}`,
        },
      ]);
    }
    const labels = heads[head]?.labels ?? [];
    const category = heads.findIndex(({ name }) => name === "category");
    this.#located = {
      labels,
      injection: { head, indices: [...new Set(injectionLabels.map((label) => labels.indexOf(label)))] },
      ...(category < 0 ? {} : { category: { head: category, labels: heads[category]?.labels ?? [] } }),
    };
    return this.#located;
  }

  async #ask(text: string, signal?: AbortSignal): Promise<JudgedDetection> {
    const answer = await this.options.classifier?.(text, signal);
    const detection = this.#read(answer);
    if (!(detection.score >= 0 && detection.score <= 1 + 1e-6)) {
      throw new GuardError(
        "GUARD_SCANNER",
        `the classifier answered ${detection.score} where a probability in 0..1 was due`,
      );
    }
    return { ...detection, score: Math.min(1, detection.score) };
  }

  #read(answer: ClassifierAnswer | undefined): JudgedDetection {
    if (typeof answer === "number") return { score: answer, category: "", attack: "" };
    if (Array.isArray(answer)) {
      const scores = answer as readonly LabelScore[];
      const attacks = scores.filter(({ label }) => this.options.injectionLabels.includes(label));
      return {
        // An answer without any of the labels says nothing of injections: it must not read as a probability of 0.
        score: attacks.length > 0 ? sum(attacks.map(({ score }) => score)) : Number.NaN,
        category: likeliest(scores),
        attack: likeliest(attacks),
      };
    }
    const { score, category } = (answer ?? {}) as { score?: number; category?: string };
    return { score: Number(score), category: category ?? "", attack: category ?? "" };
  }
}

function sum(values: readonly number[]): number {
  return Math.min(
    1,
    values.reduce((total, value) => total + value, 0),
  );
}

function likeliest(scores: readonly LabelScore[]): string {
  return top(
    scores.map(({ label }) => label),
    scores.map(({ score }) => score),
  );
}

function top(labels: readonly string[], scores: readonly number[]): string {
  return labels[scores.indexOf(Math.max(...scores))] ?? "";
}
