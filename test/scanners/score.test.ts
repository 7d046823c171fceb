import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { riskScore } from "../../src/scanners/score.ts";

describe("riskScore", () => {
  it.each([
    // What llm-guard 0.3.16's calculate_risk_score answers.
    [0.95, 0.5, 0.9],
    [0.5, 0.5, -0.1],
    [0.25, 0.5, -0.5],
    [0, 0.92, -1],
    [1, 0.92, 1],
    [0.96, 0.92, 0.5],
    // When llm-guard's rounding would give 0.0, the sign of the score must still tell the verdict.
    [0.921, 0.92, 0.1],
    [0.919, 0.92, -0.1],
    [0, 0, -1],
    [0.3, 0, 0.3],
    [1, 1, -0.1],
  ])("of %d against %d is %d", (probability, threshold, expected) => {
    expect(riskScore(probability, threshold)).toBe(expected);
  });

  it("tells the verdict by its sign, with one decimal", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(unit, unit, (probability, threshold) => {
        const score = riskScore(probability, threshold);
        expect(score > 0).toBe(probability > threshold);
        expect(Math.abs(score)).toBeGreaterThanOrEqual(0.1);
        expect(Math.abs(score)).toBeLessThanOrEqual(1);
        expect(Math.round(score * 10) / 10).toBe(score);
      }),
    );
  });
});
