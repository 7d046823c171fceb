import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Engine } from "../../src/models/engine.ts";
import { embeddingModel, multitaskModel } from "../support/model-fixtures.ts";

const engine = new Engine();
const model = engine.model(multitaskModel);
afterAll(() => model.close());

describe("an embedding head", () => {
  it("has no labels, and vectors of one length", async () => {
    const { heads } = await model.load();
    const at = heads.findIndex(({ isVector }) => isVector);
    expect(heads[at]).toMatchObject({ name: "meaning", labels: [], isVector: true });
    const { parts } = await model.classify("football match", { strategy: "full" });
    const vector = parts[0]?.heads[at] ?? [];
    expect(vector).toHaveLength(128);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });

  it("uses the vector of the first token, or the mean, as the folder configures", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-embedder-"));
    try {
      cpSync(embeddingModel, folder, { recursive: true });
      const first = await engine.model(folder).classify("rain rain sun", { strategy: "full" });
      expect(first.parts[0]?.heads[0]).toEqual([0, 0, 1, 0, 0, 0, 0]);
      mkdirSync(join(folder, "1_Pooling"));
      writeFileSync(join(folder, "1_Pooling", "config.json"), JSON.stringify({ pooling_mode_mean_tokens: true }));
      const mean = engine.model(folder, { maxLength: 15 });
      // In a batch with a longer text, the shorter text is padded to the longer one's length.
      const [text] = await Promise.all([
        mean.classify("rain rain sun", { strategy: "full" }),
        mean.classify("sun sun sun sun", { strategy: "full" }),
      ]);
      const fifths = text?.parts[0]?.heads[0]?.map((value) => Math.round(value * 5e4) / 1e4);
      expect(fifths).toEqual([0, 0, 1, 1, 2, 1, 0]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
