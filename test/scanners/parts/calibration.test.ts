import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrationTo } from "../../../src/scanners/parts/calibration.ts";

/** Thresholds at falling rates of false positives. */
const points = fc
  .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 })
  .map((thresholds) => {
    const ordered = [...thresholds].sort((a, b) => a - b);
    return [0.5, 0.1, 0.05, 0.01, 0.002].map((rate, index): [number, number] => [rate, ordered[index] as number]);
  });

const probability = fc.double({ min: 0, max: 1, noNaN: true });

describe("a probability that is corrected for its language", () => {
  const english: [number, number][] = [
    [0.5, 0.05],
    [0.1, 0.3],
    [0.01, 0.7],
  ];
  const other: [number, number][] = [
    [0.25, 0.4],
    [0.05, 0.9],
    [0.005, 0.98],
  ];

  it("has half the false positive rate of English", () => {
    const correct = calibrationTo(english, other, 2);
    expect(correct(0.4)).toBeCloseTo(0.05);
    expect(correct(0.9)).toBeCloseTo(0.3);
    expect(correct(0.98)).toBeCloseTo(0.7);
    expect(correct(0.95)).toBeGreaterThan(0.3);
    expect(correct(0.95)).toBeLessThan(0.7);
  });

  it("keeps its distance to the highest threshold", () => {
    const correct = calibrationTo(english, other, 2);
    expect(correct(0.99)).toBeGreaterThan(0.7);
    expect(correct(0.9999)).toBeGreaterThan(0.98);
  });

  it("is never raised, and rises with the probability", () => {
    fc.assert(
      fc.property(points, points, probability, probability, (reference, measured, a, b) => {
        const correct = calibrationTo(reference, measured);
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(correct(low)).toBeLessThanOrEqual(low);
        expect(correct(low)).toBeGreaterThanOrEqual(0);
        expect(correct(low)).toBeLessThanOrEqual(correct(high) + 1e-9);
      }),
    );
  });
});
