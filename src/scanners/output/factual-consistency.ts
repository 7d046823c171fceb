import { group } from "d3-array";
import pLimit from "p-limit";
import { z } from "zod";
import { madeFrom } from "../../errors.ts";
import { supportOf } from "../../models/comparing.ts";
import { EntailmentHead, type Support } from "../../models/entailment.ts";
import { Classifier } from "../../models/model.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { riskScore } from "../../score.ts";
import { type Sentence, splitSentences } from "../../sentences.ts";
import { resolveMinimum, thresholdOption } from "../../threshold.ts";
import { engineOptions, modelOption } from "../shared/model-options.ts";

/** Sentences that are judged at a time: a long output must not fill the model's queue all by itself. */
const PARALLEL = 4;

const schema = z.strictObject({
  ...commonOptions,
  model: modelOption,
  minimumScore: thresholdOption(
    0.75,
    "An output fails when the score of one of its sentences, of how surely it follows from the prompt, is below this.",
  ),
  ...engineOptions(),
});

/** A sentence and what the prompt says of it. */
interface JudgedSentence extends Sentence {
  /** The probability that the prompt does not support it. */
  score: number;
  label: "contradiction" | "neutral";
}

/**
 * Fails outputs that say what their prompt does not: sentence by sentence, as natural language inference.
 *
 * The prompt is read in windows, and the one counts that supports a sentence best: every sentence is read with every window. A
 * question claims nothing and is left out, but not what a sentence says before it or around it. A finding is a sentence without
 * support, with the label `contradiction` where some window says the opposite, else `neutral`. The `probability` of a verdict is that of the worst sentence to have no support, 1 less than what `minimumScore` is compared with.
 * Of the embedded model it is a decision score, not a frequency: the default is below 95 % of the sentences that do follow.
 *
 * llm-guard asks whether the prompt follows from the output, of both as a whole and as far as they fit into the model.
 */
export class FactualConsistency extends BaseScanner<typeof schema> {
  static readonly type = "FactualConsistency";
  static readonly options = schema;
  static readonly minimum = "minimumScore";
  readonly sanitizes = false;
  readonly #model: Classifier;
  readonly #entailment: EntailmentHead;
  /** Absent until a model of the hub is downloaded. */
  #support: ReturnType<typeof supportOf> | undefined;
  /** The probability of having no support above which a sentence fails. */
  readonly #limit: number;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    super(FactualConsistency.type, schema, options);
    this.#model = madeFrom("model", () => new Classifier(this.options.model, this.options.modelMaxLength));
    this.#entailment = new EntailmentHead(this.#model);
    if (this.#model.folder !== undefined) this.#support = supportOf(this.#model.folder);
    this.#limit = resolveMinimum(FactualConsistency.type, this.options, "minimumScore", this.#model.folder);
  }

  async load(signal?: AbortSignal): Promise<void> {
    await this.#entailment.load(signal);
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected async check(text: string, { prompt = "", signal }: ScanContext): Promise<Verdict> {
    const claims = claimsOf(text);
    if (prompt.trim() === "" || claims.length === 0) return passed(text);
    const limit = pLimit(PARALLEL);
    let judged: JudgedSentence[];
    try {
      judged = await Promise.all(claims.map((claim) => limit(() => this.#judge(prompt, claim, signal))));
    } finally {
      limit.clearQueue();
    }
    const probability = judged.reduce((worst, { score }) => Math.max(worst, score), 0);
    const findings = judged
      .filter(({ score }) => score > this.#limit)
      .map(({ start, end, text, score, label }): Finding => ({ start, end, type: "unsupported", text, score, label }));
    return {
      isValid: findings.length === 0,
      score: riskScore(probability, this.#limit),
      probability,
      findings,
      coverage: wholeText(text, claims.length),
    };
  }

  async #judge(prompt: string, claim: Sentence, signal?: AbortSignal): Promise<JudgedSentence> {
    const supports = await this.#entailment.judge(prompt, claim.text, signal);
    // All of a sentence must have support, if it is so long that it was read in pieces.
    const pieces = group(supports, ({ claimStart }) => claimStart);
    const best = [...pieces.values()].map((ofPiece) => ofPiece.reduce(better));
    const worst = best.reduce<Support | undefined>((a, b) => (a && a.entailment <= b.entailment ? a : b), undefined);
    this.#support ??= supportOf(this.#model.folder);
    const isWrong = supports.some(({ contradiction }) => contradiction > 0.5);
    return {
      ...claim,
      score: worst ? 1 - this.#support(worst.entailment) : 0,
      label: isWrong ? "contradiction" : "neutral",
    };
  }
}

function better(a: Support, b: Support): Support {
  return b.entailment > a.entailment ? b : a;
}

/** What of an output may be wrong: its sentences, without their questions, and without such as a rule of dashes. */
function claimsOf(text: string): Sentence[] {
  return splitSentences(text)
    .flatMap((sentence) => (QUESTION.test(sentence.text) ? beforeQuestion(sentence) : [sentence]))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

const QUESTION = /[?？؟]["'”’»」』)）]*$/u;
/** Where a quotation begins; what else an apostrophe stands for is behind a letter. */
const OPENING = /["“”«„「『]|(?<=[\s:：])['‘]/gu;
/** Where a sentence that ends with a question says something before it. A full stop behind a short word may be an abbreviation's. */
const BEFORE = /\n|[;；]|(?<=\p{L}{4}[.!])\s/gu;

/** What a sentence says before the question that it ends with; all of it where it tells what was asked. */
function beforeQuestion(sentence: Sentence): Sentence[] {
  if (isReported(sentence.text)) return [sentence];
  const claims: Sentence[] = [];
  let from = 0;
  for (const { 0: gap, index } of sentence.text.matchAll(BEFORE)) {
    const piece = sentence.text.slice(from, index);
    const start = sentence.start + from + (piece.length - piece.trimStart().length);
    const text = piece.trim();
    claims.push({ start, end: start + text.length, text });
    from = index + gap.length;
  }
  return claims;
}

/** Whether a sentence says something before the quotation that its question is in. */
function isReported(text: string): boolean {
  const at = text.search(QUESTION);
  if (!/["'”’»」』]/u.test(text.slice(at))) return false;
  const opening = [...text.slice(0, at).matchAll(OPENING)].at(-1);
  return opening !== undefined && /\p{L}/u.test(text.slice(0, opening.index));
}
