import { z } from "zod";
import { addon, native } from "../native.ts";
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

/** The labels that judge the order of words. */
const OF_WORD_ORDER = ["word salad", "mild gibberish"];

/** The results of the addon: whether a text has words enough to tell noise by its spelling, and to judge their order. */
const SPELLING = 1;
const ORDER = 2;

/** Matches texts of emoji, digits and white space, which are in no language and therefore no gibberish (emoji properties of UTS #51). */
const NO_LANGUAGE = /^[\p{Extended_Pictographic}\p{Emoji_Component}\s]*$/u;

export const Gibberish = defineScanner({
  type: "Gibberish",
  summary: "Blocks texts that are not in any language: word salad, keyboard mashing, noise.",
  description:
    "A text needs words to be judged. Noise such as keyboard mashing needs three words with 16 letters in Latin or Cyrillic script, or a " +
    "single word that is a walk over the keyboard, has ten consonants in a row, or at least 40 letters. Word order needs ten words in a " +
    "row that do not begin with a capital letter, without commas or line breaks. So names, nouns, job titles, addresses, file names, " +
    "product codes, abbreviations and lists pass, and if nothing was judged, `coverage.windows` is 0. Models that you choose judge every text.",
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
  differences: [
    linearModelDifference,
    thresholdDifference,
    { text: "Texts with too few words are not judged: names, nouns, titles, addresses, file names and lists pass." },
  ],
  findings: [{ type: "gibberish", label: "The kind: `word salad`, `noise` or `mild gibberish`." }],
  examples: {
    passes: ["How do I get from the station to the museum?", "Zdzisław Grzebszczyński", "CHANGELOG.rst", "👍👍 3"],
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
        const evidence = await native(() => addon.wordEvidence(parts.map((part) => part.text)), { signal });
        const judged = parts.flatMap((part, index) => {
          const counted = bad.filter((label) => (evidence[index] as number) & neededFor(known[label] as string));
          return counted.length > 0 ? [{ ...part, counted }] : [];
        });
        if (judged.length === 0) return [];
        const probabilities = await model.classifyWithoutRepeats(
          judged.map((part) => part.text),
          bad,
          { signal },
        );
        return judged.map(({ start, end, counted }, index) => ({
          start,
          end,
          ...gibberishOf(probabilities[index] as number[], known, counted),
        }));
      },
    });
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

/** Returns what a text needs so that a label of the model counts. */
function neededFor(label: string): number {
  return OF_WORD_ORDER.includes(label) ? ORDER : SPELLING;
}

/** Returns the sum of the probabilities of labels that mean gibberish, which are indices, and the likeliest of these labels. */
function gibberishOf(
  probabilities: readonly number[],
  known: readonly string[],
  labels: readonly number[],
): { score: number; label: string } {
  const at = (index: number) => probabilities[index] as number;
  const top = labels.reduce((best, index) => (at(index) > at(best) ? index : best));
  const sum = labels.reduce((total, index) => total + at(index), 0);
  return { score: Math.min(1, sum), label: known[top] as string };
}
