import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { LinearClassifier } from "../../src/models/linear-classifier.ts";

it("a loaded model does not need its files any more", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), "guard-linear-")), "code");
  await cp(fileURLToPath(new URL("../../models/code", import.meta.url)), folder, { recursive: true });
  const model = new LinearClassifier(folder);
  const { labels } = model.describe();
  await model.load();
  await rm(folder, { recursive: true });
  expect(model.describe().labels).toEqual(labels);
  const [probabilities] = await model.classify(["def add(a, b):\n    return a + b\n"]);
  expect(probabilities).toHaveLength(labels.length);
  await model.close();
});
