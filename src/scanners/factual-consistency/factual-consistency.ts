import type { CallContext } from "../../models/call-context.ts";
import { EntailmentHead, type Support } from "../../models/entailment-head.ts";
import { readSupportScale } from "../../models/similarity.ts";
import { type Finding, notScanned, passed, type Verdict, wholeText } from "../../scan/scanner.ts";
import { riskScore } from "../../scan/score.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Sentence } from "../../text/sentences.ts";
import { WITHOUT_PROMPT } from "../common-options.ts";
import { defineScanner } from "../define-scanner.ts";
import { engineOptions, languageDifference, modelOption } from "../parts/model-options.ts";
import { resolveMinimum, resolveReview, reviewOptions, thresholdOption } from "../parts/threshold.ts";
import {
  languageScorer,
  lengthOf,
  onUntrainedLanguageOption,
  type UntrainedPart,
  withUntrained,
} from "../parts/untrained-languages.ts";
import { haveUnknownNumbers } from "./claim-numbers.ts";
import { claimsOf } from "./claims.ts";

/** A sentence of an output, and how far the prompt supports it. */
interface ScoredClaim extends Sentence {
  /** The probability that the prompt does not support it. */
  score: number;
  label: "contradiction" | "neutral" | "number";
}

/** The minimum probability of having no support for a sentence with a number that the prompt does not contain. */
const UNKNOWN_NUMBER_SCORE = 0.5;

export const FactualConsistency = defineScanner({
  type: "FactualConsistency",
  formerly: ["Refutation"],
  summary: "Fails outputs with sentences that do not follow from the prompt, by natural language inference.",
  description:
    "Every sentence of the output is compared with every window of the prompt, and the window that supports it best counts. Questions are " +
    "skipped, but not the statements before or around them. A finding is a sentence without support. Its label is `contradiction` if a " +
    "window of the prompt says the opposite, `number` if only a number is missing from the prompt, and `neutral` otherwise. A number is " +
    "missing if the prompt contains neither the number nor two numbers with that sum or difference; the sentence then has a support of " +
    "at most 0.5. The `probability` of a verdict is that the worst sentence has no support: 1 minus the value that `minimum_score` is " +
    "compared with. The embedded model gives a decision score, not a frequency: 95 % of the sentences that do follow are above the default.\n\n" +
    "The embedded model is small. It finds answers about something else, but hardly one wrong detail: at its default it fails 51 of 337 " +
    "answers that differ from their source in one point, and 15 of 223 faithful ones (texts of ours in eight languages, written to be hard). " +
    "Where facts matter, name a larger model for natural language inference in `model`.\n\n" +
    "llm-guard asks whether the prompt follows from the output, both as a whole and cut to the model's input.\n\n" +
    WITHOUT_PROMPT,
  sides: { output: {} },
  options: () => ({
    model: modelOption(),
    minimumScore: thresholdOption(0.75, "An output fails when the support of one of its sentences is below this."),
    ...reviewOptions,
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  comparesWithPrompt: true,
  minimum: "minimumScore",
  differences: [
    {
      text: "Each sentence of the answer must follow from the prompt, except for questions. llm-guard asks whether the prompt follows from the answer, both as a whole.",
    },
    languageDifference,
  ],
  findings: [
    {
      type: "unsupported",
      label:
        "`contradiction` if the prompt says the opposite, `number` if only a number is missing from the prompt, otherwise `neutral`.",
    },
  ],
  examples: {
    passes: [
      { prompt: "The museum opens at nine and closes at six.", text: "The museum closes at six." },
      { prompt: "The museum opens at nine and closes at six.", text: "When would you like to go?" },
    ],
    fails: [{ prompt: "The museum opens at nine and closes at six.", text: "The museum is free for children." }],
  },
  create(build) {
    const { model: name, modelMaxLength: maxLength, onUntrainedLanguage: treatment } = build.options;
    const model = withPathPrefix("model", () => build.engine.model(name, { maxLength }));
    const entailment = new EntailmentHead(model);
    const { type, engine } = build;
    const languages = languageScorer({ type, engine, model, head: "nli", treatment });
    /** Undefined as long as a model of the hub is not downloaded. */
    let support: ReturnType<typeof readSupportScale> | undefined;
    if (model.folder !== undefined) support = readSupportScale(model.folder);
    /** A sentence fails if its probability of having no support is above this. */
    const threshold = resolveMinimum(build, model.folder, "minimumScore");
    const scoreClaims = async (prompt: string, claims: readonly Sentence[], context: CallContext) => {
      if (claims.length === 0) return [];
      const texts = claims.map(({ text }) => text);
      const supports = await entailment.scoreClaims(prompt, texts, context);
      const unknown = haveUnknownNumbers(prompt, texts);
      support ??= readSupportScale(model.folder);
      const supportScore = support;
      return claims.map((claim, index) =>
        scoredClaim(claim, supports[index] ?? [], unknown[index] ?? false, supportScore),
      );
    };
    return {
      ...resolveReview(build, model.folder, threshold, "minimumScore"),
      async load(signal) {
        await entailment.load(signal);
        await languages.load();
      },
      close: () => model.close(),
      async check(text, context) {
        const { prompt = "" } = context;
        const all = await claimsOf(text, context);
        if (all.length === 0) return passed(text);
        if (prompt.trim() === "") return passed(text, notScanned(text));
        const [ofPrompt = [], ofText = []] = await Promise.all(
          [prompt, text].map((each) => languages.untrainedParts(each, context)),
        );
        const skipped = untrainedClaims(all, ofText, { prompt, untrained: ofPrompt });
        const starts = new Set(skipped.map(({ start }) => start));
        const claims = all.filter(({ start }) => !starts.has(start));
        const verdict = claimsVerdict(text, await scoreClaims(prompt, claims, context), threshold);
        return withUntrained(text, verdict, skipped, treatment);
      },
    };
  },
});

/** Returns a sentence with what the windows of the prompt say about it. */
function scoredClaim(
  claim: Sentence,
  supports: readonly Support[],
  hasUnknownNumber: boolean,
  supportScore: (entailment: number) => number,
): ScoredClaim {
  // A very long sentence was read in pieces. All of them need support, so the piece with the least support decides.
  const bestOfPieces = new Map<number, number>();
  for (const { claimStart, entailment } of supports) {
    bestOfPieces.set(claimStart, Math.max(bestOfPieces.get(claimStart) ?? entailment, entailment));
  }
  const least = Math.min(...bestOfPieces.values());
  const score = bestOfPieces.size > 0 ? 1 - supportScore(least) : 0;
  if (hasUnknownNumber && score < UNKNOWN_NUMBER_SCORE)
    return { ...claim, score: UNKNOWN_NUMBER_SCORE, label: "number" };
  const isContradicted = supports.some(({ contradiction }) => contradiction > 0.5);
  return { ...claim, score, label: isContradicted ? "contradiction" : "neutral" };
}

/** Returns the verdict on an output. The sentence with the least support decides. */
function claimsVerdict(text: string, claims: readonly ScoredClaim[], threshold: number): Verdict {
  const coverage = wholeText(text, claims.length);
  if (claims.length === 0) return passed(text, coverage);
  const probability = claims.reduce((highest, { score }) => Math.max(highest, score), 0);
  const findings = claims
    .filter(({ score }) => score > threshold)
    .map(({ start, end, text, score, label }): Finding => ({ start, end, type: "unsupported", text, score, label }));
  const score = riskScore(probability, threshold);
  return { isValid: findings.length === 0, score, probability, findings, coverage };
}

/** Returns the sentences that the model cannot compare with the prompt, because it was not trained in the language of one of them. */
function untrainedClaims(
  claims: readonly Sentence[],
  ofText: readonly UntrainedPart[],
  { prompt, untrained }: { prompt: string; untrained: readonly UntrainedPart[] },
): UntrainedPart[] {
  const ofPrompt = 2 * lengthOf(untrained) > prompt.length ? untrained[0]?.language : undefined;
  return claims.flatMap(({ start, end }) => {
    const own = ofText.find((part) => part.start < end && start < part.end)?.language;
    const language = own ?? ofPrompt;
    return language === undefined ? [] : [{ start, end, language }];
  });
}
