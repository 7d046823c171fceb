/** The risk score of a check that passed without a probability. */
export const PASSED = -1;
/** The risk score of a check that failed without a probability. */
export const FAILED = 1;

/**
 * Computes the risk score of a probability against a threshold, both in 0..1.
 *
 * The formula is that of llm-guard 0.3.16: `(p - t) / (1 - t)` above the threshold and `(p - t) / t` otherwise, clamped to -1..1
 * and rounded to one decimal. Here, unlike there, rounding never crosses zero, so that the sign alone tells the verdict: a failing
 * score is at least 0.1, and a passing score is at most -0.1.
 *
 * @returns a value above 0 when the check failed (`probability > threshold`), and below 0 when it passed.
 */
export function riskScore(probability: number, threshold: number): number {
  if (probability > threshold) {
    return Math.min(1, Math.max(0.1, round((probability - threshold) / (1 - threshold), 1)));
  }
  return threshold === 0 ? PASSED : Math.max(-1, Math.min(-0.1, round((probability - threshold) / threshold, 1)));
}

/** Rounds to `digits` decimals. */
export function round(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}
