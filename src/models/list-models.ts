import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listHubModels } from "./hub/cache.ts";
import { EMBEDDED, embeddedFolder, modelFolders, modelsFolder } from "./model-files.ts";
import { type LicenceClass, trainingData } from "./training-data.ts";

/** A model on this machine. */
export interface ModelEntry {
  /** What to write as `model`. */
  model: string;
  source: "embedded" | "cached";
  folder: string;
  /** Bytes of all its files. */
  size: number;
  labels: string[];
  license?: string;
  /** The classes of licences of the data that it was trained on, as far as it states them. */
  trainingData?: LicenceClass[];
}

/**
 * Lists the models that come with the package, and those in a folder.
 *
 * @param cache the folder of the models that do not come with the package. Default: `GUARD_MODELS_DIR`, or the cache of Hugging
 *   Face's tools.
 */
export function listModels(cache: string = modelsFolder()): ModelEntry[] {
  const entry = (source: ModelEntry["source"], model: string, folder: string, licensed?: string): ModelEntry => {
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    const data = trainingData(folder);
    const license: unknown = licensed ?? config.guard?.license ?? config.license;
    return {
      model,
      source,
      folder,
      size: folderSize(folder),
      labels: labelsOf(config),
      ...(typeof license === "string" ? { license } : {}),
      ...(data ? { trainingData: data } : {}),
    };
  };
  return [
    ...modelFolders(embeddedFolder).map((name) => entry("embedded", EMBEDDED + name, join(embeddedFolder, name))),
    ...modelFolders(cache).map((name) => entry("cached", join(cache, name), join(cache, name))),
    ...listHubModels(cache).map(({ model, folder, license }) => entry("cached", model, folder, license)),
  ];
}

/** What a configuration says of its labels. */
interface Labelled {
  id2label?: object;
  guard?: { heads?: { name?: string; labels?: unknown[] }[]; screens?: { head?: string }[] };
}

/**
 * The labels of a configuration, each once: the labels of its heads, or if it has no heads, the labels of the whole model. Heads that screen
 * texts for other models have none that a scanner could name.
 */
function labelsOf(config: Labelled): string[] {
  const { heads = [], screens = [] } = config.guard ?? {};
  const asked = heads.filter(({ name }) => !screens.some(({ head }) => head === name));
  const labels = asked.flatMap((head) => head.labels ?? []);
  return [...new Set((labels.length > 0 ? labels : Object.values(config.id2label ?? {})).map(String))];
}

/** The bytes of all files of a folder. */
export function folderSize(folder: string): number {
  // In the cache of the hub, files are links to their contents.
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => statSync(join(folder, path), { throwIfNoEntry: false }))
    .reduce((sum, found) => sum + (found?.isFile() ? found.size : 0), 0);
}
