import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { riskScore, round } from "../../src/scan/score.ts";

describe("riskScore", () => {
  it.each([
    // Results of llm-guard 0.3.16's calculate_risk_score.
    [0.95, 0.5, 0.9],
    [0.5, 0.5, -0.1],
    [0.25, 0.5, -0.5],
    [0, 0.92, -1],
    [1, 0.92, 1],
    [0.96, 0.92, 0.5],
    // llm-guard's rounding would give 0.0, but the sign of the score must give the verdict.
    [0.921, 0.92, 0.1],
    [0.919, 0.92, -0.1],
    [0, 0, -1],
    [0.3, 0, 0.3],
    [1, 1, -0.1],
    // Ties, and numbers that only look like ties: the doubles 0.85 and 0.15 are slightly smaller than the decimals.
    [0.625, 0.5, 0.2],
    [0.875, 0.5, 0.8],
    [0.375, 0.5, -0.2],
    [0.125, 0.5, -0.8],
    [0.8125, 0.75, 0.2],
    [0.9375, 0.75, 0.8],
    [0.575, 0.5, 0.1],
    [0.925, 0.5, 0.9],
    [0.675, 0.5, 0.4],
    [0.425, 0.5, -0.2],
    [0.36, 0.2, 0.2],
    [0.18, 0.2, -0.1],
  ])("of %d against %d is %d", (probability, threshold, expected) => {
    expect(riskScore(probability, threshold)).toBe(expected);
  });

  it("has the sign of the verdict, with one decimal", () => {
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

describe("round", () => {
  it.each([
    // Results of Python's round.
    [0.25, 1, 0.2],
    [0.35, 1, 0.3],
    [0.45, 1, 0.5],
    [0.75, 1, 0.8],
    [0.15, 1, 0.1],
    [0.85, 1, 0.8],
    [-0.25, 1, -0.2],
    [-0.75, 1, -0.8],
    [-0.35, 1, -0.3],
    [1.25, 1, 1.2],
    [0.125, 2, 0.12],
    [0.375, 2, 0.38],
    [0.675, 2, 0.68],
    [1.005, 2, 1],
    [2.675, 2, 2.67],
    [-0.125, 2, -0.12],
    [2.5, 0, 2],
    [3.5, 0, 4],
    [0, 1, 0],
  ])("of %d to %d decimals is %d", (value, digits, expected) => {
    expect(round(value, digits)).toBe(expected);
  });
});
