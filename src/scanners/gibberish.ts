import { z } from "zod";
import type { Engine } from "../models/engine.ts";
import { addon, native } from "../native.ts";
import type { ScanContext } from "../scan/scanner.ts";
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
import { linearModel, pieceScanner, type ScoredPiece } from "./parts/piece-scanner.ts";
import { streamingOf } from "./parts/sentence-streaming.ts";
import { reviewOptions, thresholdOption } from "./parts/threshold.ts";
import { onUntrainedLanguageOption } from "./parts/untrained-languages.ts";

/** The labels of llm-guard's model that mean gibberish. */
const GIBBERISH = ["word salad", "noise", "mild gibberish"];

/** The labels that judge the order of words. */
const OF_WORD_ORDER = ["word salad", "mild gibberish"];

/** The results of the addon: whether a text has words enough to tell noise by its spelling, and to judge their order. */
const SPELLING = 1;
const ORDER = 2;

/**
 * The languages in which word order was measured: 2 to 11 % of clean sentences of at least eight words have a probability above 0.7, and
 * 75 to 97 % of shuffled ones. In 197 languages, 18 % of clean passages do.
 */
const MEASURED_LANGUAGES = "ar cs de el en es fa fi fr he hi hu id it kk nl no pl pt ro ru sv tr uk zh".split(" ");
/** A lower probability of a wrong word order needs no language. */
const LEAST_DOUBT = 0.1;

/** Matches texts of emoji, digits and white space, which are in no language and therefore no gibberish (emoji properties of UTS #51). */
const NO_LANGUAGE = /^[\p{Extended_Pictographic}\p{Emoji_Component}\s]*$/u;

export const Gibberish = defineScanner({
  type: "Gibberish",
  summary: "Blocks texts that are not in any language: word salad, keyboard mashing, noise.",
  description:
    "A text needs words to be judged. Noise such as keyboard mashing needs three words with 16 letters in Latin or Cyrillic script, or a " +
    "single word that is a walk over the keyboard, has ten consonants in a row, or at least 40 letters. Word order needs ten words in a " +
    "row that do not begin with a capital letter, without commas or line breaks. So names, nouns, job titles, addresses, file names, " +
    "product codes, abbreviations and lists pass. Word order is judged in 25 languages; in others only the spelling counts, and " +
    "`coverage.untrained_languages` names them. If nothing was judged, `coverage.windows` is 0. Models that you choose judge every text.",
  sides: { input: { threshold: 0.97 }, output: { threshold: 0.7 } },
  options: ({ threshold }) => ({
    model: classifierOption("embedded:gibberish", "gibberish"),
    threshold: thresholdOption(threshold, "A text fails when the probability of gibberish is above this."),
    ...reviewOptions,
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
    const { labels: wanted, matchType, onUntrainedLanguage } = build.options;
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
      onUntrainedLanguage,
      async score(text, context) {
        const { signal } = context;
        if (NO_LANGUAGE.test(text)) return [];
        const parts =
          matchType === "sentence" ? await splitSentences(text, { signal }) : [{ start: 0, end: text.length, text }];
        const evidence = await native(() => addon.wordEvidence(parts.map((part) => part.text)), { signal });
        const judged = parts.flatMap((part, index) => {
          const counted = bad.filter(
            (label) => (evidence[index] as number) & (judgesOrder(known, label) ? ORDER : SPELLING),
          );
          return counted.length > 0 ? [{ ...part, counted }] : [];
        });
        if (judged.length === 0) return [];
        const probabilities = await model.classifyWithoutRepeats(
          judged.map((part) => part.text),
          bad,
          { signal },
        );
        const scored = judged.map(({ start, end, counted }, index) => {
          const piece = { start, end, text: text.slice(start, end) };
          const of = (labels: readonly number[]) => gibberishOf(probabilities[index] as number[], known, labels);
          return { ...piece, ...of(counted), bySpelling: of(counted.filter((label) => !judgesOrder(known, label))) };
        });
        return onUntrainedLanguage === "raw" ? scored : inMeasuredLanguages(scored, build.engine, context);
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

function judgesOrder(known: readonly string[], label: number): boolean {
  return OF_WORD_ORDER.includes(known[label] as string);
}

/** A scored piece, and its score without the labels of word order. */
interface ScoredText extends ScoredPiece {
  text: string;
  bySpelling: { score: number; label: string };
}

/**
 * Judges pieces by their spelling alone if they are in a language whose word order the model does not know. Only a piece that may fail
 * because of its word order needs its language.
 */
function inMeasuredLanguages(
  pieces: readonly ScoredText[],
  { languages }: Engine,
  context: ScanContext,
): Promise<ScoredPiece[]> {
  return Promise.all(
    pieces.map(async ({ text, bySpelling, ...piece }) => {
      if (piece.score - bySpelling.score < LEAST_DOUBT) return piece;
      const parts = await languages.foreignParts(text, { known: MEASURED_LANGUAGES }, context);
      const lengths = new Map<string, number>();
      for (const { start, end, language } of parts) {
        if (language !== undefined) lengths.set(language, (lengths.get(language) ?? 0) + end - start);
      }
      const [[untrainedLanguage, length] = ["", 0]] = [...lengths].sort(([, one], [, other]) => other - one);
      return length * 2 > text.length ? { ...piece, ...bySpelling, untrainedLanguage } : piece;
    }),
  );
}

/** Returns the sum of the probabilities of labels that mean gibberish, which are indices, and the likeliest of these labels. */
function gibberishOf(
  probabilities: readonly number[],
  known: readonly string[],
  labels: readonly number[],
): { score: number; label: string } {
  const at = (index: number) => probabilities[index] as number;
  const top = labels.reduce((best, index) => (at(index) > at(best) ? index : best), labels[0] ?? 0);
  const sum = labels.reduce((total, index) => total + at(index), 0);
  return { score: Math.min(1, sum), label: known[top] as string };
}
