import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { lazy } from "../support/lazy.ts";
import type { Engine } from "./engine.ts";
import { EMBEDDED, embeddedFolder } from "./model-files.ts";

/**
 * The classes of licences that training data may have, as `training/datasets.py` defines them: those that allow every use, those
 * that nobody states, those that do not allow commercial use, and those that demand the same licence for what is made of the data.
 */
export type LicenceClass = "open" | "unclear" | "non-commercial" | "copyleft";

const configSchema = lazy(() =>
  z.looseObject({
    guard: z
      .looseObject({ training_data: z.array(z.enum(["open", "unclear", "non-commercial", "copyleft"])).optional() })
      .optional(),
  }),
);

/**
 * Reads of which classes the data were that a model was trained on, from `guard.training_data` of its `config.json`. Undefined where
 * that does not say it.
 */
export function trainingData(folder: string): LicenceClass[] | undefined {
  const config = configSchema().safeParse(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")));
  return config.data?.guard?.training_data;
}

/** The embedded models among those that an engine was asked for that learnt in part from data which do not allow commercial use. */
export function restrictedModels(engine: Engine): string[] {
  const embedded = engine.folders.filter((folder) => dirname(folder) === embeddedFolder);
  const restricted = embedded.filter((folder) => trainingData(folder)?.includes("non-commercial"));
  return restricted.map((folder) => EMBEDDED + basename(folder));
}
