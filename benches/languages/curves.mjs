// Statistics of scores in one language.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Rates of the points of a curve, besides the lowest rate that the number of texts can resolve. */
const RATES = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];

/**
 * A curve of false positives: pairs of a rate and a threshold. At the threshold for a rate r, another harmless text is above it with a
 * probability of at most r: of n texts, at most r (n + 1) - 1 are above it (split conformal prediction, Vovk et al., Algorithmic Learning
 * in a Random World, 2005).
 */
export function falsePositiveCurve(scores) {
  const ordered = [...scores].sort((a, b) => b - a);
  const lowest = 1 / (ordered.length + 1);
  return [...RATES.filter((rate) => rate > lowest), lowest].map((rate) => {
    const above = Math.max(0, Math.floor(rate * (ordered.length + 1) + 1e-9) - 1);
    return [Number(rate.toPrecision(4)), Number((ordered[above] ?? 0).toPrecision(6))];
  });
}

/** The area under the ROC curve. */
export function areaUnderCurve(negatives, positives) {
  const ordered = [...negatives].sort((a, b) => a - b);
  const countBelow = (value, isInclusive) => {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ordered[middle] < value || (isInclusive && ordered[middle] === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const wins = positives.reduce((sum, value) => sum + (countBelow(value, false) + countBelow(value, true)) / 2, 0);
  return wins / (positives.length * ordered.length);
}

/** The share of the letters of texts that no token of a model's vocabulary contains, so that the model can't tell them apart. */
export function unknownLetterShare(folder, texts) {
  const { guard } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  // Models with the same word vectors share their tokenizer too.
  const { vocab } = JSON.parse(readFileSync(join(folder, guard?.external_data ?? "", "tokenizer.json"), "utf8")).model;
  const known = new Set(vocab.flatMap(([piece]) => [...piece]));
  let [unknown, all] = [0, 0];
  for (const text of texts) {
    for (const letter of text.normalize("NFKC").match(/[\p{L}\p{M}]/gu) ?? []) {
      all += 1;
      if (!known.has(letter)) unknown += 1;
    }
  }
  return all === 0 ? 0 : unknown / all;
}
