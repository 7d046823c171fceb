/** The risk score of a check that passed without a probability. */
export const PASSED = -1;
/** The risk score of a check that failed without a probability. */
export const FAILED = 1;

/**
 * Computes the risk score of a probability against a threshold, both in 0..1.
 *
 * The formula is that of llm-guard 0.3.16: `(p - t) / (1 - t)` above the threshold and `(p - t) / t` otherwise, clamped to -1..1 and
 * rounded to one decimal ({@link round}). Unlike there, rounding never crosses zero, so that the sign alone gives the verdict: a failing
 * score is at least 0.1, and a passing score is at most -0.1.
 *
 * @returns a value above 0 if the check failed (`probability > threshold`), and below 0 if it passed.
 */
export function riskScore(probability: number, threshold: number): number {
  if (probability > threshold) {
    return Math.min(1, Math.max(0.1, round((probability - threshold) / (1 - threshold), 1)));
  }
  return threshold === 0 ? PASSED : Math.max(-1, Math.min(-0.1, round((probability - threshold) / threshold, 1)));
}

/**
 * Rounds to `digits` decimals like Python's `round`, which llm-guard uses: to the decimal that is nearest to the exact value of the double,
 * and a tie to the even decimal, so 0.25 becomes 0.2 and 0.75 becomes 0.8.
 *
 * Sources: the documentation of Python's built-in functions, and ECMA-262, section 21.1.3.3: `toFixed` also reads the exact value, but
 * rounds ties away from zero.
 */
export function round(value: number, digits: number): number {
  // A double is exactly between two decimals only if it is an odd multiple of this power of two.
  const isTie = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  if (!isTie) return Number(value.toFixed(digits));
  const factor = 10 ** digits;
  const below = Math.floor(value * factor);
  return (below % 2 === 0 ? below : below + 1) / factor;
}
