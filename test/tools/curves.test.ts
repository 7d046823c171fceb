import { describe, expect, it } from "vitest";
import { countAbove, type Outcome } from "../../src/cli/eval/metrics.ts";
import { falsePositiveCurve } from "../../tools/cards/model-card.ts";
import { rocCurve } from "../../tools/plots.ts";

const probable = (positive: boolean, probability: number): Outcome => ({
  ...{ positive, probability, failed: probability > 0.5, score: probability > 0.5 ? 1 : -1 },
});

describe("curves", () => {
  it("draws the ROC curve with a point at each turn", () => {
    const outcomes = [probable(true, 0.9), probable(true, 0.8), probable(false, 0.5), probable(true, 0.5)];
    expect(rocCurve([...outcomes, probable(false, 0.1)])).toEqual([
      { falsePositives: 0, recall: 0 },
      { falsePositives: 0, recall: 2 / 3 },
      { falsePositives: 1 / 2, recall: 1 },
      { falsePositives: 1, recall: 1 },
    ]);
    expect(rocCurve([probable(true, 0.9)])).toEqual([]);
  });

  it("keeps pairs of rates and thresholds that are valid", () => {
    const harmless = Float64Array.from({ length: 1000 }, (_, index) => Math.floor(index / 3) / 1000);
    const points = falsePositiveCurve(harmless);
    expect(points[0]).toEqual([0, 0.333]);
    expect(points.at(-1)?.[0]).toBeLessThanOrEqual(0.5);
    for (const [index, [rate, threshold]] of points.entries()) {
      expect(rate).toBe(countAbove(harmless, threshold) / 1000);
      if (index > 0) expect(rate).toBeGreaterThan(points[index - 1]?.[0] as number);
    }
    expect(falsePositiveCurve(Float64Array.of(0.5))).toEqual([[0, 0.5]]);
    expect(falsePositiveCurve(Float64Array.of(1, 1, 1))).toEqual([[0, 1]]);
  });
});
