import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Engine } from "../../src/models/engine.ts";

const engine = new Engine();
const names = fileURLToPath(new URL("../fixtures/names", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-spans-"));
const model = engine.model(names);
beforeAll(async () => {
  await model.load();
});
afterAll(async () => {
  await model.close();
  rmSync(scratch, { recursive: true });
});

/** Copies the model with another configuration. */
function copyWith(config: (config: Record<string, unknown>) => object): string {
  const copy = mkdtempSync(join(scratch, "model"));
  for (const file of ["tokenizer.json", "model.onnx"]) copyFileSync(join(names, file), join(copy, file));
  const changed = config(JSON.parse(readFileSync(join(names, "config.json"), "utf8")));
  writeFileSync(join(copy, "config.json"), JSON.stringify(changed));
  return copy;
}

async function found(text: string, finder = model): Promise<[kind: string, text: string][]> {
  const spans = await finder.findSpans(text);
  return spans.map(({ kind, start, end }) => [kind, text.slice(start, end)]);
}

describe("spans", () => {
  it("are found by a token head, in UTF-16 code units", async () => {
    expect((await model.load()).heads).toMatchObject([{ kinds: ["PERSON", "LOCATION", "ORGANIZATION"] }]);
    const text = "😀 Ivan Petrov, in (Moscow): Acme Corp. 我在北京工作";
    expect(await found(text)).toEqual([
      ["PERSON", "Ivan Petrov"],
      ["LOCATION", "Moscow"],
      ["ORGANIZATION", "Acme Corp"],
      ["LOCATION", "北京"],
    ]);
    const [person, town] = await model.findSpans(text);
    expect(person?.score).toBeGreaterThan(0.95);
    // One of seven labels has the logit 6, and the others have 0. Two labels mean a place, and only the first of the two pieces was
    // recognized.
    expect(town?.score).toBeCloseTo((Math.exp(6) + 1) / (Math.exp(6) + 6), 5);
  });

  it("begin at a B label, or at an I label without a name before it", async () => {
    expect(await found("Petrov Ivan Maria Petrov")).toEqual([
      ["PERSON", "Petrov"],
      ["PERSON", "Ivan"],
      ["PERSON", "Maria Petrov"],
    ]);
    // A continuation alone is not a name.
    expect(await found("a Corp")).toEqual([]);
  });

  it("are found at every position of a long text", async () => {
    const word = (index: number) => (index % 7 === 0 ? "Ivan Petrov" : index % 11 === 0 ? "Moscow" : "a");
    const words = Array.from({ length: 5000 }, (_, index) => word(index));
    const expected = words
      .filter((text) => text !== "a")
      .map((text) => [text === "Moscow" ? "LOCATION" : "PERSON", text]);
    expect(await found(words.join(" , "))).toEqual(expected);
  });

  it("are the same in windows of any length", async () => {
    const short = engine.model(names, { maxLength: 12 });
    const pieces = ["Ivan", "Petrov", "Moscow", "Acme Corp", "北京", "a", ",", "zzz", "😀"];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 50 }), async (words) => {
        const text = words.join(" ");
        const inWindows = await short.findSpans(text);
        // Overlapping windows may add the probabilities of a span in another order.
        const expected = (await model.findSpans(text)).map((span) => ({
          ...span,
          score: expect.closeTo(span.score, 9),
        }));
        expect(inWindows).toEqual(expected);
      }),
      { numRuns: 100 },
    );
    await short.close();
  });

  it("are ordered, disjoint, and contain a letter or digit, in any text", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("Ivan", "Petrov", "Pet", "Moscow", "北", "京", " ", ".", "«", "»", "\u0301", "\ud800", "\0"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 80 }), async (pieces) => {
        const text = pieces.join("");
        let last = 0;
        for (const { start, end, score } of await model.findSpans(text)) {
          expect(last <= start && start < end && end <= text.length).toBe(true);
          expect(text.slice(start, end)).toMatch(/^\P{White_Space}/u);
          expect(text.slice(start, end)).toMatch(/[\p{Alphabetic}\p{N}]/u);
          expect(score > 0 && score <= 1).toBe(true);
          last = end;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("are absent in a text without names", async () => {
    for (const text of ["", "  \n ", "a"]) expect(await found(text)).toEqual([]);
  });

  it("are found in a text of 1 MB, and abandoned on abort", async () => {
    const text = "Ivan Petrov ".repeat(90_000);
    expect(await model.findSpans(text)).toHaveLength(90_000);
    const controller = new AbortController();
    const call = model.findSpans(`${text}.`, { signal: controller.signal });
    setImmediate(() => controller.abort(new Error("changed my mind")));
    await expect(call).rejects.toThrow("changed my mind");
  }, 60_000);

  it("of equal concurrent texts are computed once, and equal", async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `${"a ".repeat(index % 9)}Ivan Petrov ${index % 5}`);
    const alone = [];
    for (const text of texts) alone.push(await model.findSpans(text));
    expect(await Promise.all(texts.map((text) => model.findSpans(text)))).toEqual(alone);
  });
});

describe("heads", () => {
  const output = { output: "logits", labels: ["O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C"] };

  it("over tokens and over texts are distinguished by kind", async () => {
    const listed = engine.model(copyWith(() => ({ guard: { heads: [{ name: "names", kind: "token", ...output }] } })));
    expect((await listed.load()).heads).toMatchObject([{ name: "names", kinds: ["A", "B", "C"] }]);
    expect(await found("Ivan in Moscow", listed)).toEqual([
      ["A", "Ivan"],
      ["B", "Moscow"],
    ]);
    expect((await listed.classify("Ivan", { strategy: "windows" })).parts).toMatchObject([{ heads: [[]] }]);
    await listed.close();
  });

  it("without B and I prefixes have their labels as types", async () => {
    const id2label = { 0: "O", 1: "I-PER", 2: "I-SUR", 3: "I-LOC", 4: "I-END", 5: "I-ORG", 6: "I-CORP" };
    const plain = engine.model(copyWith((config) => ({ ...config, id2label })));
    expect(await found("Ivan Ivan in Moscow", plain)).toEqual([
      ["PER", "Ivan Ivan"],
      ["LOC", "Moscow"],
    ]);
    await plain.close();
  });

  it.each([
    [
      "that does not judge tokens",
      () => ({ guard: { heads: [{ name: "x", activation: "softmax", ...output }] } }),
      /shape/,
    ],
    ["without O", (config: object) => ({ ...config, id2label: { 0: "B-X", 1: "I-X" } }), /config\.json.*must have O/],
    ["of another size", (config: object) => ({ ...config, id2label: { 0: "O", 1: "B-X" } }), /shape/],
  ])("that are invalid fail: one %s", async (_, config, message) => {
    const wrong = engine.model(copyWith(config));
    await expect(wrong.findSpans("Ivan")).rejects.toThrow(message);
    await wrong.close();
  });
});
