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

/** The threshold of a curve at a rate that need not be among its points: between two points, linear in both logarithms. */
function thresholdAt(points: Points, rate: number): number {
  const after = points.findIndex(([known]) => known <= rate);
  const [high, low] = [points[Math.max(0, after - 1)], points[after < 0 ? points.length - 1 : after]];
  if (!high || !low || high[0] <= low[0] || rate >= high[0]) return logit((after < 0 ? low : high)?.[1] ?? 1);
  const share = (Math.log(high[0]) - Math.log(rate)) / (Math.log(high[0]) - Math.log(low[0]));
  return logit(high[1]) + share * (logit(low[1]) - logit(high[1]));
}

/**
 * Makes a function that turns a probability in one language into the one that has `rarer` times its rate of false positives in the
 * language of reference, so that a threshold gives false positives that are so much rarer: quantile mapping (Panofsky and Brier, Some Applications of Statistics to Meteorology, 1958), linear in the logarithm
 * of the odds between the points of the curve; beyond its highest threshold, the distance to it stays the same. A probability is
 * never raised: where a model gives all texts in a language low probabilities, it does not know them either.
 *
 * @param reference the curve of the language of reference.
 * @param points the curve of the language that is corrected.
 * @param rarer how many times as rare false positives are to be as in the language of reference.
 */
export function calibrationTo(reference: Points, points: Points, rarer = 1): Calibration {
  const knots = points.map(([rate, threshold]) => ({
    from: logit(threshold),
    to: thresholdAt(reference, rarer * rate),
  }));
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
