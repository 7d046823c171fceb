/** Corrects a model's probability in one language. */
export type Calibration = (probability: number) => number;

/** Pairs of a false positive rate and its threshold, by falling rate. */
type Points = readonly (readonly [rate: number, threshold: number])[];

/** Probabilities are clamped to this distance from 0 and 1, where the logarithm of the odds is not finite. */
const MIN_DISTANCE = 1e-6;

const logit = (probability: number) => {
  const inside = Math.min(1 - MIN_DISTANCE, Math.max(MIN_DISTANCE, probability));
  return Math.log(inside / (1 - inside));
};
const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));

/** Returns the threshold of a curve at any rate, as a logit: between two points, interpolated linearly in both logarithms. */
function thresholdAt(points: Points, rate: number): number {
  const after = points.findIndex(([known]) => known <= rate);
  const [high, low] = [points[Math.max(0, after - 1)], points[after < 0 ? points.length - 1 : after]];
  if (!high || !low || high[0] <= low[0] || rate >= high[0]) return logit((after < 0 ? low : high)?.[1] ?? 1);
  const share = (Math.log(high[0]) - Math.log(rate)) / (Math.log(high[0]) - Math.log(low[0]));
  return logit(high[1]) + share * (logit(low[1]) - logit(high[1]));
}

/**
 * Creates a function that corrects probabilities in one language, so that a threshold has `1 / rarer` of the false positives that it has in
 * the reference language. It is quantile mapping (Panofsky and Brier, Some Applications of Statistics to Meteorology, 1958), linear in the
 * logarithm of the odds between the points of the curve. Beyond the highest threshold, the distance to it stays the same. A probability is
 * never raised: a model that gives all texts in a language low probabilities does not know the language either.
 *
 * @param reference the curve of the reference language.
 * @param points the curve of the corrected language.
 * @param rarer by which factor false positives should be rarer than in the reference language.
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
