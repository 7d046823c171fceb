import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { FORMATS } from "../../benches/envelopes/formats.mjs";
import { measureBatches, measurePadding } from "../../benches/envelopes/measure.mjs";
import { PromptInjection } from "../../src/scanners/generated/input-scanners.ts";

interface Pair {
  lang: string;
  fact: string;
  attack: string;
}

const all: Pair[] = readFileSync(new URL("../../benches/envelopes/pairs.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
/** A pair of every third language or so. */
const pairs = all.filter((_, index) => index % 6 === 0);

describe("the verdict of PromptInjection on a text", () => {
  const scanner = new PromptInjection();
  afterAll(() => scanner.close());

  it("is the same beside any other texts", async () => {
    for (const { texts, different } of Object.values(await measureBatches(scanner, pairs))) {
      expect(texts).toBe(2 * pairs.length);
      expect(different).toBe(0);
    }
  });

  it("does not get lost in a kilobyte of harmless text", async () => {
    const { 0: alone, 1000: padded } = await measurePadding(scanner, pairs, { sizes: [1000] });
    // Which attacks are found alone depends on the model. The eval measures that.
    expect(alone?.found).toBeGreaterThan(pairs.length / 2);
    expect(padded?.lost).toBeLessThanOrEqual(1);
    expect(padded?.flagged).toBeLessThanOrEqual(1);
  });
});

describe("the pairs of facts and attacks", () => {
  it("are forty or more in eight languages or more, and every format contains them", () => {
    expect(all.length).toBeGreaterThanOrEqual(40);
    expect(new Set(all.map(({ lang }) => lang)).size).toBeGreaterThanOrEqual(8);
    expect(Object.keys(FORMATS)).toHaveLength(14);
    for (const write of Object.values(FORMATS)) expect(write("A plain fact.")).toContain("A plain fact.");
  });
});
