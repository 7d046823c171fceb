import { describe, expect, it } from "vitest";
import { FactualConsistency } from "../../src/scanners/generated/output-scanners.ts";
import { exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

describe("FactualConsistency", () => {
  const scanner = new FactualConsistency({ model: multitaskModel });
  const prompt = "the capital of France is Paris . the sky is blue . the grass is green .";

  it("passes what the prompt supports", async () => {
    const verdict = await scanner.scan("the sky is blue. Paris is the capital of France.", { prompt });
    expect(verdict).toMatchObject({ isValid: true, findings: [], coverage: { windows: 2 } });
    expect(verdict.score).toBeLessThan(0);
  });

  it("names the sentence without support, and whether the prompt contradicts it", async () => {
    const text = "the sky is blue.\n\nLondon sells juice.\n\nthe grass is not green.";
    const { isValid, findings, probability } = await scanner.scan(text, { prompt });
    expect(isValid).toBe(false);
    expect(findings).toEqual([
      { start: 18, end: 37, type: "unsupported", text: "London sells juice.", label: "neutral", score: probability },
      {
        start: 39,
        end: 62,
        type: "unsupported",
        text: "the grass is not green.",
        label: "contradiction",
        score: expect.any(Number),
      },
    ]);
  });

  it("finds support in any window of a long prompt", async () => {
    const long = `${fillerText.repeat(5)}the red team won the match .`;
    expect((await scanner.scan("the red team won.", { prompt: long })).isValid).toBe(true);
    expect((await scanner.scan("the red team lost.", { prompt: fillerText.repeat(5) })).isValid).toBe(false);
  });

  it("needs support for every piece of a sentence longer than the model's input", async () => {
    const long = "the sky is blue and ".repeat(10);
    expect((await scanner.scan(long, { prompt: "the sky is blue and green" })).isValid).toBe(true);
    const { isValid, findings } = await scanner.scan(`${long} ${"London sells juice and ".repeat(8)}`, {
      prompt: "the sky is blue and green",
    });
    expect(isValid).toBe(false);
    expect(findings).toHaveLength(1);
  });

  it("skips sentences without a claim", async () => {
    const verdict = await scanner.scan("Who won? ---\n\n谁赢了？", { prompt });
    expect(verdict).toMatchObject({ isValid: true, score: -1 });
    expect(verdict).not.toHaveProperty("probability");
    for (const context of [{}, { prompt: " " }]) {
      const unjudged = await scanner.scan("London sells juice.", context);
      expect(unjudged).toMatchObject({ isValid: true, score: -1 });
      expect(unjudged.coverage).toEqual({ chars: 19, scannedChars: 0, truncated: true, windows: 0 });
    }
    expect(await scanner.scan("", { prompt })).toMatchObject({ score: -1 });
  });

  it.each([
    ["London sells juice\nwho won ?", "London sells juice"],
    ["- the sky is blue\n- London sells juice\n- who won ?", "- London sells juice"],
    ["the sky is blue; London sells juice; who won ?", "London sells juice"],
    ["London sells juice. who won?", "London sells juice."],
    ["London sells juice：“who won？”", "London sells juice：“who won？”"],
    ['London asked: "who won?"', 'London asked: "who won?"'],
  ])("checks the statement beside the question in %j", async (text, claim) => {
    const { isValid, findings } = await scanner.scan(text, { prompt });
    expect({ isValid, claims: findings.map((finding) => finding.text) }).toEqual({ isValid: false, claims: [claim] });
    for (const { start, end, text: found } of findings) expect(text.slice(start, end)).toBe(found);
  });

  it.each(['"Who won?"', "Shall we play for Dr. Smith?", "(谁赢了？)", "“Кто победил?”"])(
    "leaves out the question %j",
    async (text) => {
      expect(await scanner.scan(text, { prompt })).toMatchObject({ isValid: true, score: -1 });
    },
  );

  it("splits long sentences that end with a question", async () => {
    const gap = " ".repeat(200_000);
    const { findings } = await scanner.scan(`${"a".repeat(200_000)}${gap}London sells juice\n${gap}who won ?`, {
      prompt: "x",
    });
    expect(findings).toHaveLength(1);
  });

  it("is aborted by a signal", async () => {
    const controller = new AbortController();
    const output = Array.from({ length: 5000 }, (_, number) => `London sells ${number} juices.`).join(" ");
    const call = scanner.scan(output, { prompt, signal: controller.signal });
    setImmediate(() => controller.abort(new Error("changed my mind")));
    await expect(call).rejects.toThrow("changed my mind");
  });

  it("refuses a model without an entailment label", async () => {
    await expect(new FactualConsistency({ model: exclusiveClassifier }).load()).rejects.toThrow(/no label entailment/);
    const short = new FactualConsistency({ model: multitaskModel, modelMaxLength: 4 });
    await expect(short.load()).rejects.toThrow(/^modelMaxLength: a pair of texts needs 6 tokens/);
    expect(() => new FactualConsistency({ model: multitaskModel, minimumScore: { fpr: 0.1 } })).toThrow(
      /^minimumScore.fpr:/,
    );
  });
});

describe("FactualConsistency with the embedded model", () => {
  const embedded = new FactualConsistency();
  const prompt =
    "Acme Cycles was founded in Leeds in 1987 by Ann Lee. It makes steel bicycles and employs 40 people. Who founded it?";

  it("passes sentences that follow from the prompt", async () => {
    expect((await embedded.scan("Ann Lee founded Acme Cycles.", { prompt })).isValid).toBe(true);
  });

  // embedded:multitask 0.4.0 named both.
  it.fails("names the sentence that contradicts the prompt, and the one without support", async () => {
    const text = "Ann Lee founded Acme Cycles. Acme Cycles does not make bicycles. Its founder plays the violin.";
    const { findings } = await embedded.scan(text, { prompt });
    expect(findings.map((finding) => finding.text)).toEqual([
      "Acme Cycles does not make bicycles.",
      "Its founder plays the violin.",
    ]);
    expect(findings[0]?.label).toBe("contradiction");
  });

  const contradicting =
    "Ann Lee founded Acme Cycles. Acme Cycles does not make bicycles. Its products are made of wood.";

  it("names a sentence that contradicts the prompt, with a high minimum score", async () => {
    const strict = new FactualConsistency({ minimumScore: 0.9 });
    const { findings } = await strict.scan(contradicting, { prompt });
    expect(findings[0]).toMatchObject({ text: "Acme Cycles does not make bicycles.", label: "contradiction" });
  });

  // embedded:multitask 0.6.0 named both.
  it.fails("names two sentences that contradict the prompt, with a high minimum score", async () => {
    const strict = new FactualConsistency({ minimumScore: 0.9 });
    const { findings } = await strict.scan(contradicting, { prompt });
    expect(findings.map((finding) => finding.text)).toEqual([
      "Acme Cycles does not make bicycles.",
      "Its products are made of wood.",
    ]);
  });

  it("fails a sentence with a number that is not in the prompt", async () => {
    const report =
      "The harbour of Vardal closed 17 days in 2024, the port authority reports. Storms damaged 2,480 metres of the wall; the repair costs 6.5 " +
      "million crowns, and 64 of 91 berths are free again.";
    const one = async (text: string) => (await embedded.scan(text, { prompt: report })).findings;
    const said = "The storms damaged 2,840 metres of the wall.";
    expect(await one(said)).toEqual([expect.objectContaining({ type: "unsupported", text: said })]);
    // The same numbers in other notations, and results calculated from them.
    for (const same of [
      "The storms damaged 2480 metres of the wall.",
      "The repair costs 6,500,000 crowns.",
      "There are 27 berths that are not free.",
    ]) {
      expect(await one(same), same).not.toContainEqual(expect.objectContaining({ label: "number" }));
    }
  });
});
