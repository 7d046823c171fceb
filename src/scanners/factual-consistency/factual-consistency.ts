import { supportOf } from "../../models/comparing.ts";
import { EntailmentHead, type Support } from "../../models/entailment.ts";
import { type Finding, passed, wholeText } from "../../scan/scanner.ts";
import { riskScore } from "../../scan/score.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Sentence } from "../../text/sentences.ts";
import { defineScanner } from "../definition.ts";
import {
  languageJudge,
  lengthOf,
  onUntrainedLanguageOption,
  type UntrainedPart,
  withUntrained,
} from "../parts/foreign-languages.ts";
import { engineOptions, modelOption, ofLanguages } from "../parts/model-options.ts";
import { resolveMinimum, thresholdOption } from "../parts/threshold.ts";
import { haveUnknownNumbers } from "./claim-numbers.ts";
import { claimsOf } from "./claims.ts";

/** A sentence, and how far the prompt supports it. */
interface JudgedSentence extends Sentence {
  /** The probability that the prompt does not support it. */
  score: number;
  label: "contradiction" | "neutral" | "number";
}

/** The least probability that a sentence has no support whose number is nowhere in the prompt. */
const STRANGE_NUMBER = 0.5;

export const FactualConsistency = defineScanner({
  type: "FactualConsistency",
  formerly: ["Refutation"],
  summary: "Fails outputs that say what their prompt does not: sentence by sentence, as natural language inference.",
  description:
    "The prompt is read in windows, and the one counts that supports a sentence best: every sentence is read with every window. A " +
    "question claims nothing and is left out, but not what a sentence says before it or around it. A finding is a sentence without " +
    "support, with the label `contradiction` where some window says the opposite, else `neutral`; a sentence with a number that the prompt " +
    "does not have, nor makes as a sum or difference of two, has a support of at most 0.5 and the label `number`. The `probability` of a verdict is " +
    "that of the worst sentence to have no support, 1 less than what `minimum_score` is compared with. Of the embedded model it is a " +
    "decision score, not a frequency: the default is below 95 % of the sentences that do follow.\n\n" +
    "llm-guard asks whether the prompt follows from the output, of both as a whole and as far as they fit into the model.",
  sides: { output: {} },
  options: () => ({
    model: modelOption(),
    minimumScore: thresholdOption(
      0.75,
      "An output fails when the score of one of its sentences, of how surely it follows from the prompt, is below this.",
    ),
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  comparesWithPrompt: true,
  minimum: "minimumScore",
  differences: [
    {
      text: "It is asked whether each sentence of the answer follows from the prompt. llm-guard asks whether the prompt follows from the answer, both as a whole. Questions are left out.",
    },
    ofLanguages,
  ],
  findings: [
    {
      type: "unsupported",
      label:
        "`contradiction` where the prompt says the opposite, `number` where only a number is not in the prompt, else `neutral`.",
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
    const byLanguage = languageJudge({ type, engine, model, head: "nli", treatment });
    /** Undefined as long as a model of the hub is not downloaded. */
    let support: ReturnType<typeof supportOf> | undefined;
    if (model.folder !== undefined) support = supportOf(model.folder);
    /** A sentence fails when its probability of having no support is above this. */
    const minimum = resolveMinimum(build, model.folder, "minimumScore");

    function judgment(claim: Sentence, supports: readonly Support[], hasUnknownNumber: boolean): JudgedSentence {
      // A very long sentence was read in pieces. All of its pieces must have support, so the piece with the least support decides.
      const bestOfPieces = new Map<number, Support>();
      for (const found of supports) {
        const known = bestOfPieces.get(found.claimStart);
        bestOfPieces.set(found.claimStart, known ? better(known, found) : found);
      }
      const worst = [...bestOfPieces.values()].reduce<Support | undefined>(
        (a, b) => (a && a.entailment <= b.entailment ? a : b),
        undefined,
      );
      support ??= supportOf(model.folder);
      const isWrong = supports.some(({ contradiction }) => contradiction > 0.5);
      const score = worst ? 1 - support(worst.entailment) : 0;
      if (hasUnknownNumber && score < STRANGE_NUMBER) return { ...claim, score: STRANGE_NUMBER, label: "number" };
      return { ...claim, score, label: isWrong ? "contradiction" : "neutral" };
    }

    return {
      async load(signal) {
        await entailment.load(signal);
        await byLanguage.load();
      },
      close: () => model.close(),
      async check(text, { prompt = "", signal, answers }) {
        const all = await claimsOf(text, { signal });
        if (prompt.trim() === "" || all.length === 0) return passed(text);
        const [ofPrompt, ofText] = await Promise.all(
          [prompt, text].map((each) => byLanguage.foreign(each, answers, signal)),
        );
        const foreign = foreignClaims(all, ofText ?? [], { prompt, foreign: ofPrompt ?? [] });
        const left = new Set(foreign.map(({ start }) => start));
        const claims = all.filter(({ start }) => !left.has(start));
        const texts = claims.map((claim) => claim.text);
        const supports = claims.length === 0 ? [] : await entailment.judge(prompt, texts, { signal, answers });
        const unknown = haveUnknownNumbers(prompt, texts);
        const judged = claims.map((claim, index) => judgment(claim, supports[index] ?? [], unknown[index] ?? false));
        const probability = judged.reduce((worst, { score }) => Math.max(worst, score), 0);
        const findings = judged
          .filter(({ score }) => score > minimum)
          .map(
            ({ start, end, text, score, label }): Finding => ({ start, end, type: "unsupported", text, score, label }),
          );
        const coverage = wholeText(text, claims.length);
        if (claims.length === 0) return withUntrained(text, passed(text, coverage), foreign, treatment);
        const verdict = {
          ...{ isValid: findings.length === 0, score: riskScore(probability, minimum) },
          ...{ probability, findings, coverage },
        };
        return withUntrained(text, verdict, foreign, treatment);
      },
    };
  },
});

/**
 * Returns the sentences that the model cannot compare with the prompt, because one of the two is in a language that it was not
 * trained in.
 */
function foreignClaims(
  claims: readonly Sentence[],
  ofText: readonly UntrainedPart[],
  { prompt, foreign }: { prompt: string; foreign: readonly UntrainedPart[] },
): UntrainedPart[] {
  const ofPrompt = 2 * lengthOf(foreign) > prompt.length ? foreign[0]?.language : undefined;
  return claims.flatMap(({ start, end }) => {
    const own = ofText.find((part) => part.start < end && start < part.end)?.language;
    const language = own ?? ofPrompt;
    return language === undefined ? [] : [{ start, end, language }];
  });
}

function better(a: Support, b: Support): Support {
  return b.entailment > a.entailment ? b : a;
}
