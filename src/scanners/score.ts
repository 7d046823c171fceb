/** The risk score of a check that passed without a probability. */
export const PASSED = -1;
/** The risk score of a check that failed without a probability. */
export const FAILED = 1;

/**
 * The risk score of a probability against a threshold, both in 0..1.
 *
 * llm-guard 0.3.16: above the threshold `(p - t) / (1 - t)`, otherwise `(p - t) / t`, clamped to -1..1 and rounded to one
 * decimal. Here rounding never crosses zero, so that the sign alone tells the verdict: failing is at least 0.1, passing at
 * most -0.1.
 *
 * @returns above 0 when the check failed (`probability > threshold`), below 0 when it passed.
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
