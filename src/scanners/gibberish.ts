import { z } from "zod";
import { GuardValidationError } from "../support/errors.ts";
import { splitSentences } from "../text/sentences.ts";
import { defineScanner } from "./define-scanner.ts";
import { labelScanner } from "./parts/label-scanner.ts";
import {
  classifierOption,
  classifierOptions,
  linearModelDifference,
  thresholdDifference,
} from "./parts/model-options.ts";
import { linearModel, pieceScanner } from "./parts/piece-scanner.ts";
import { streamingOf } from "./parts/sentence-streaming.ts";
import { thresholdOption } from "./parts/threshold.ts";
import { onUntrainedLanguageOption } from "./parts/untrained-languages.ts";

/** The labels of llm-guard's model that mean gibberish. */
const GIBBERISH = ["word salad", "noise", "mild gibberish"];

/** Matches texts of emoji, digits and white space, which are in no language and therefore no gibberish (emoji properties of UTS #51). */
const NO_LANGUAGE = /^[\p{Extended_Pictographic}\p{Emoji_Component}\s]*$/u;

export const Gibberish = defineScanner({
  type: "Gibberish",
  summary: "Blocks texts that are not in any language: word salad, keyboard mashing, noise.",
  sides: { input: { threshold: 0.97 }, output: { threshold: 0.7 } },
  options: ({ threshold }) => ({
    model: classifierOption("embedded:gibberish", "gibberish"),
    threshold: thresholdOption(threshold, "A text fails when the probability of gibberish is above this."),
    matchType: z
      .enum(["full", "sentence"])
      .default("full")
      .describe("full: the text as a whole. sentence: each sentence. The worst one decides."),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .default(GIBBERISH)
      .describe("Labels of the model that mean gibberish. Their probabilities are added up."),
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...classifierOptions,
  }),
  differences: [linearModelDifference, thresholdDifference],
  findings: [{ type: "gibberish", label: "The kind: `word salad`, `noise` or `mild gibberish`." }],
  examples: {
    passes: ["How do I get from the station to the museum?", "👍👍 3"],
    fails: ["xkjqv wplmz qrtgh bvnxc zzkwj plmqx vbnrt"],
  },
  create(build) {
    const { labels: wanted, matchType } = build.options;
    const model = linearModel(build);
    if (!model) {
      const strategy = matchType === "sentence" ? "sentence" : "windows";
      const settings = {
        head: "gibberish",
        labels: wanted,
        option: "labels",
        all: String(wanted) !== String(GIBBERISH),
      };
      return labelScanner(
        { ...build, options: { ...build.options, matchType: strategy } },
        { labels: settings, finding: "gibberish" },
      );
    }
    const { labels: known } = model.describe();
    const bad = labelIndices(known, wanted);
    return pieceScanner(build, model, {
      finding: "gibberish",
      streaming: streamingOf(matchType === "sentence" ? "sentence" : "full"),
      windows: (pieces) => pieces.length,
      async score(text, { signal }) {
        if (NO_LANGUAGE.test(text)) return [];
        const parts =
          matchType === "sentence" ? await splitSentences(text, { signal }) : [{ start: 0, end: text.length, text }];
        const probabilities = await model.classifyWithoutRepeats(
          parts.map((part) => part.text),
          bad,
          { signal },
        );
        return parts.map(({ start, end }, index) => ({ start, end, ...gibberishOf(probabilities[index] as number[]) }));
      },
    });

    /** Returns the sum of the probabilities of the labels that mean gibberish, and the likeliest of these labels. */
    function gibberishOf(probabilities: readonly number[]): { score: number; label: string } {
      const at = (index: number) => probabilities[index] as number;
      const top = bad.reduce((best, index) => (at(index) > at(best) ? index : best));
      const sum = bad.reduce((total, index) => total + at(index), 0);
      return { score: Math.min(1, sum), label: known[top] as string };
    }
  },
});

/** Returns the indices of labels among the labels of the model. */
function labelIndices(known: readonly string[], labels: readonly string[]): number[] {
  const indices = labels.map((label, position) => {
    const index = known.indexOf(label);
    if (index >= 0) return index;
    const message = `the model has no label ${label}; its labels are: ${known.join(", ")}`;
    throw new GuardValidationError([{ path: `labels.${position}`, message }]);
  });
  return [...new Set(indices)];
}
