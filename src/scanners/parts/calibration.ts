/** Corrects a probability that a model gives in one language. */
export type Calibration = (probability: number) => number;

/** Pairs of a rate of false positives and the threshold that gives it, by falling rate. */
type Points = readonly (readonly [rate: number, threshold: number])[];

/** Probabilities nearer to 0 or 1 than this count as this near: the logarithm of their odds is not finite. */
const NEAREST = 1e-6;

const logit = (probability: number) => {
  const inside = Math.min(1 - NEAREST, Math.max(NEAREST, probability));
  return Math.log(inside / (1 - inside));
};
const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));

/**
 * Makes a function that turns a probability in one language into the one that has the same rate of false positives in the language
 * of reference: quantile mapping (Panofsky and Brier, Some Applications of Statistics to Meteorology, 1958), linear in the logarithm
 * of the odds between the rates that both curves have; beyond the highest threshold, the distance to it stays the same. A
 * probability is never raised: where a model gives all texts in a language low probabilities, it does not know them either.
 *
 * @param reference the curve of the language of reference.
 * @param points the curve of the language that is corrected.
 */
export function calibrationTo(reference: Points, points: Points): Calibration {
  const thresholds = new Map(reference);
  const knots = points.flatMap(([rate, threshold]) => {
    const wanted = thresholds.get(rate);
    return wanted === undefined ? [] : [{ from: logit(threshold), to: logit(wanted) }];
  });
  return (probability) => {
    const value = logit(probability);
    const above = knots.findIndex(({ from }) => from >= value);
    const low = above < 0 ? knots.at(-1) : knots[above - 1];
    const high = above < 0 ? undefined : knots[above];
    let mapped = value;
    if (low && high && high.from > low.from) {
      mapped = low.to + ((value - low.from) / (high.from - low.from)) * (high.to - low.to);
    } else if (low ?? high) {
      const { from, to } = (low ?? high) as { from: number; to: number };
      mapped = value + to - from;
    }
    return Math.min(probability, sigmoid(mapped));
  };
}
