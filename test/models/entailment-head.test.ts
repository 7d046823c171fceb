import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { Engine } from "../../src/models/engine.ts";
import { fillerText, multitaskModel } from "../support/model-fixtures.ts";

const engine = new Engine();
const model = engine.model(multitaskModel);
afterAll(() => model.close());

/** The model's result for one claim. */
async function judge(text: string, claim: string) {
  const [parts = []] = await model.scoreClaims(text, [claim]);
  return parts;
}

/** The head for inference: entailment, neutral, contradiction. */
async function inference(text: string, claim: string): Promise<number[]> {
  const { heads } = await model.load();
  const [part, ...more] = await judge(text, claim);
  expect(more).toEqual([]);
  return part?.heads[heads.findIndex(({ name }) => name === "nli")] ?? [];
}

describe("a pair of texts", () => {
  it("is joined as in the tokenizer", async () => {
    const text = "the sky is blue";
    expect((await inference(text, "sky is blue"))[0]).toBeGreaterThan(0.95);
    expect((await inference(text, "the grass is green"))[0]).toBeLessThan(0.1);
    expect((await inference(text, "the sky is not blue"))[2]).toBeGreaterThan(0.95);
    // The direction matters: the text does not follow from the claim.
    expect((await inference("sky", text))[0]).toBeLessThan(0.1);
  });

  it("is read in windows of the text, with offsets in both in UTF-16 code units", async () => {
    const text = `😀 ${fillerText.repeat(4)}`;
    const claim = "😀 sky is blue";
    const parts = await judge(text, claim);
    expect(parts.length).toBeGreaterThan(4);
    expect(parts[0]?.start).toBe(0);
    expect(text.slice(0, parts.at(-1)?.end)).toBe(text.trimEnd());
    for (const { claimStart, claimEnd } of parts) expect(claim.slice(claimStart, claimEnd)).toBe(claim);
  });

  it("is also read in parts of a long claim", async () => {
    const claim = "the sky is blue and the grass is green and ".repeat(3).trim();
    const parts = await judge("the sky", claim);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ claimStart, claimEnd }) => claim.slice(claimStart, claimEnd)).join(" ")).toBe(claim);
  });

  it("has no result if one of the two is empty, and rejects too many claims", async () => {
    expect(await judge("", "sky")).toEqual([]);
    expect(await judge("sky", " ")).toEqual([]);
    const long = fillerText.repeat(300);
    await expect(judge(long, long)).rejects.toMatchObject({ code: "GUARD_TOKENIZATION" });
  });

  it("with several claims gives the result of each claim alone", async () => {
    const text = `😀 ${fillerText.repeat(4)}`;
    const long = "the sky is blue and the grass is green and ".repeat(3).trim();
    const claims = ["😀 sky is blue", "", long, "the grass is not green", "😀 sky is blue"];
    const together = await model.scoreClaims(text, claims);
    const alone = await Promise.all(claims.map((claim) => judge(text, claim)));
    // Rows of a floating-point model are batched, which rounds their sums in another order.
    const close = (heads: readonly number[][]) => heads.map((head) => head.map((score) => expect.closeTo(score, 5)));
    const expected = alone.map((parts, claim) => parts.map((part) => ({ ...part, claim, heads: close(part.heads) })));
    expect(together).toEqual(expected);
    expect(together.map((parts) => parts.length > 0)).toEqual([true, false, true, true, true]);
  });

  it("is aborted by a signal", async () => {
    const controller = new AbortController();
    const call = model.scoreClaims(fillerText.repeat(1000), ["sky"], { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(call).rejects.toThrow("changed my mind");
  });

  it("has offsets within any two texts", async () => {
    const texts = fc.array(fc.constantFrom("sky", "is", "blue", "😀", "不", "\ud83d", ".", "\n"), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(texts, texts, async (some, others) => {
        const [text, claim] = [some.join(" "), others.join(" ")];
        for (const { start, end, claimStart, claimEnd, heads } of await judge(text, claim)) {
          expect(0 <= start && start < end && end <= text.length).toBe(true);
          expect(0 <= claimStart && claimStart < claimEnd && claimEnd <= claim.length).toBe(true);
          expect(heads[4]?.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 4);
        }
      }),
      { numRuns: 60 },
    );
  });
});
