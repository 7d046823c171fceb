import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  binaryFigures,
  calibrationBins,
  countAbove,
  labelFigures,
  type Outcome,
  ranksOf,
  thresholdAt,
  wilsonInterval,
} from "../../src/cli/eval/metrics.ts";

const outcome = (positive: boolean, score: number) => ({ positive, failed: score > 0, score });
const probable = (positive: boolean, probability: number): Outcome => ({
  ...{ positive, probability, failed: probability > 0.5, score: probability > 0.5 ? 1 : -1 },
});

describe("figures", () => {
  it("gives equal ranks half the weight in the area under the curve", () => {
    // The pairs: 0.5 is above both negatives, and -0.5 is above one of them and equal to the other.
    const mixed = [outcome(true, 0.5), outcome(true, -0.5), outcome(false, -0.5), outcome(false, -1)];
    expect(binaryFigures(mixed).auc).toBe(3.5 / 4);
    expect(binaryFigures([outcome(true, 1), outcome(false, -1)])).toEqual({
      ...{ rows: 2, positives: 1, accuracy: 1, precision: 1, recall: 1, f1: 1, falsePositives: 0, auc: 1 },
    });
  });

  it("ranks by the probability, which is finer than the score", () => {
    const close = [probable(true, 0.62), probable(false, 0.61), probable(true, 0.2), probable(false, 0.1)];
    expect(binaryFigures(close).auc).toBe(3 / 4);
    expect(binaryFigures(close.map(({ probability: _, ...rest }) => rest)).auc).toBe(1 / 2);
  });

  it("omits shares of nothing", () => {
    expect(binaryFigures([{ positive: false, failed: false, score: -1 }])).toEqual({
      ...{ rows: 1, positives: 0, accuracy: 1, falsePositives: 0 },
    });
    expect(binaryFigures([{ positive: true, failed: false, score: -1 }])).toEqual({
      ...{ rows: 1, positives: 1, accuracy: 0, recall: 0 },
    });
    expect(binaryFigures([outcome(true, -1), outcome(false, -1)])).toEqual({
      ...{ rows: 2, positives: 1, accuracy: 1 / 2, recall: 0, f1: 0, falsePositives: 0, auc: 1 / 2 },
    });
  });

  it("compares the positives of a group with all harmless texts", () => {
    const whole = [probable(true, 0.7), probable(false, 0.6), probable(false, 0.8)];
    expect(binaryFigures(whole.slice(0, 1), ranksOf(whole, false))).toMatchObject({ rows: 1, auc: 1 / 2 });
  });

  it("includes the recall at a false positive rate, with enough harmless texts", () => {
    const harmless = Array.from({ length: 100 }, (_, index) => probable(false, index / 1000));
    // One text in 100 may fail, so the threshold is the second highest probability, 0.098. A text at the threshold passes.
    const positives = [0.05, 0.098, 0.0985, 0.9].map((probability) => probable(true, probability));
    expect(binaryFigures([...harmless, ...positives])).toMatchObject({ recallAt1In100: 2 / 4 });
    expect(binaryFigures([...harmless, ...positives])).not.toHaveProperty("recallAt1In1000");
    expect(binaryFigures([...harmless.slice(1), ...positives])).not.toHaveProperty("recallAt1In100");
  });

  it("weighs the bins of the calibration error by their texts", () => {
    // 0.1: mean 0.125, none positive; 0.9..1: mean 0.95, one of two. (2 * 0.125 + 2 * 0.45) / 4.
    const outcomes = [probable(false, 0.1), probable(false, 0.15), probable(true, 0.9), probable(false, 1)];
    expect(binaryFigures(outcomes).ece).toBeCloseTo(0.2875, 12);
    expect(calibrationBins(outcomes)).toEqual([
      { from: 0.1, to: 0.2, rows: 2, probability: 0.125, positives: 0 },
      { from: 0.9, to: 1, rows: 2, probability: 0.95, positives: 0.5 },
    ]);
  });

  it("compares labels", () => {
    expect(
      labelFigures([
        { label: "a", found: "a" },
        { label: "b", found: "a" },
      ]),
    ).toEqual({ rows: 2, accuracy: 0.5 });
  });
});

describe("thresholdAt", () => {
  it("finds the lowest threshold for a rate, and its effect", () => {
    const rate = fc.double({ min: 0, max: 0.999, noNaN: true });
    const ranks = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(ranks, rate, (values, fpr) => {
        const harmless = Float64Array.from(values, (value) => value / 50).sort();
        const threshold = thresholdAt(harmless, fpr);
        const allowed = Math.floor(fpr * harmless.length + 1e-9);
        expect(countAbove(harmless, threshold)).toBeLessThanOrEqual(allowed);
        // At a slightly lower threshold more texts would fail.
        expect(countAbove(harmless, threshold - 1e-9)).toBeGreaterThan(allowed);
      }),
    );
  });
});

describe("wilsonInterval", () => {
  it.each([
    // Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    [29, 29, 0.883, 1],
  ])("of %d of %d", (part, whole, low, high) => {
    const [from, to] = wilsonInterval(part, whole);
    expect(from).toBeCloseTo(low, 4);
    expect(to).toBeCloseTo(high, 4);
  });
});
