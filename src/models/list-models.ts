import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listHubModels } from "./hub/cache.ts";
import { EMBEDDED, embeddedFolder, modelFolders, modelsFolder } from "./model-files.ts";

/** A model on this machine. */
export interface ModelEntry {
  /** The value for the option `model`. */
  model: string;
  source: "embedded" | "cached";
  folder: string;
  /** The size of all files in bytes. */
  size: number;
  labels: string[];
  license?: string;
  /** The licence classes of the training data (`guard.training_data` of `config.json`), if they are stated. `open` allows every use. */
  trainingData?: string[];
}

/**
 * Lists the embedded models and those in a folder.
 *
 * @param cache the folder of the models that are not embedded. Default: `GUARD_MODELS_DIR`, or the cache of Hugging
 *   Face's tools.
 */
export function listModels(cache: string = modelsFolder()): ModelEntry[] {
  const entry = (source: ModelEntry["source"], model: string, folder: string, hubLicense?: string): ModelEntry => {
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    const data: unknown = config.guard?.training_data;
    const license: unknown = hubLicense ?? config.guard?.license ?? config.license;
    return {
      model,
      source,
      folder,
      size: folderSize(folder),
      labels: labelsOf(config),
      ...(typeof license === "string" ? { license } : {}),
      ...(Array.isArray(data) ? { trainingData: data.map(String) } : {}),
    };
  };
  return [
    ...modelFolders(embeddedFolder).map((name) => entry("embedded", EMBEDDED + name, join(embeddedFolder, name))),
    ...modelFolders(cache).map((name) => entry("cached", join(cache, name), join(cache, name))),
    ...listHubModels(cache).map(({ model, folder, license }) => entry("cached", model, folder, license)),
  ];
}

/** The labels in a model's configuration. */
interface LabelConfig {
  id2label?: object;
  guard?: { heads?: { name?: string; labels?: unknown[] }[] };
}

/** Returns the distinct labels of a model's heads, or of the whole model if it has no heads. */
function labelsOf(config: LabelConfig): string[] {
  const labels = (config.guard?.heads ?? []).flatMap((head) => head.labels ?? []);
  return [...new Set((labels.length > 0 ? labels : Object.values(config.id2label ?? {})).map(String))];
}

/** Returns the size of all files in a folder in bytes. */
export function folderSize(folder: string): number {
  // Files in the hub's cache are symbolic links, and statSync follows them.
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => statSync(join(folder, path), { throwIfNoEntry: false }))
    .reduce((sum, found) => sum + (found?.isFile() ? found.size : 0), 0);
}
