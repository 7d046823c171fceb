import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { lazy } from "../support/lazy.ts";
import type { Engine } from "./engine.ts";
import { EMBEDDED, embeddedFolder } from "./model-files.ts";

/**
 * Classes of training data licences, as in `training/datasets.py`: they allow every use (`open`), are not stated (`unclear`), forbid
 * commercial use, or require the same licence for derived works (`copyleft`).
 */
export type LicenceClass = "open" | "unclear" | "non-commercial" | "copyleft";

const configSchema = lazy(() =>
  z.looseObject({
    guard: z
      .looseObject({ training_data: z.array(z.enum(["open", "unclear", "non-commercial", "copyleft"])).optional() })
      .optional(),
  }),
);

/** Reads the licence classes of a model's training data from `guard.training_data` of its `config.json`, if they are stated. */
export function readTrainingData(folder: string): LicenceClass[] | undefined {
  const config = configSchema().safeParse(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")));
  return config.data?.guard?.training_data;
}

/** Lists the embedded models of an engine that were trained on data whose licences forbid commercial use. */
export function listRestrictedModels(engine: Engine): string[] {
  const embedded = engine.folders.filter((folder) => dirname(folder) === embeddedFolder);
  const restricted = embedded.filter((folder) => readTrainingData(folder)?.includes("non-commercial"));
  return restricted.map((folder) => EMBEDDED + basename(folder));
}
