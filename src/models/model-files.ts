import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ownFile } from "../own-files.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { findHubModel, type HubFiles, hubCache } from "./hub/cache.ts";
import { pullHubModel } from "./hub/hub.ts";
import { type HubId, parseHubId } from "./hub/hub-id.ts";
import type { HubSettings } from "./hub/requests.ts";
import { MANIFEST } from "./manifest.ts";

/** The prefix of the names of embedded models. */
export const EMBEDDED = "embedded:";

/** The description of scanner options that name a model. */
export const MODEL_DESCRIPTION =
  "embedded:<name>, a folder with config.json, tokenizer.json and an ONNX file, an ONNX file in one, folder:file.onnx, or a model of the Hugging Face " +
  "hub, which load() downloads: owner/name, owner/name@revision, owner/name:folder/model.onnx.";

/** The folder of the embedded models. */
export const embeddedFolder = ownFile("models");

/** Returns the folder of models that are not embedded: `GUARD_MODELS_DIR`, or the cache of Hugging Face's tools. */
export function modelsFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.GUARD_MODELS_DIR || hubCache(env));
}

/** Lists the folders with a `config.json` in a folder. */
export function modelFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, "config.json")))
    .sort();
}

/** Where a model's files are. */
export interface ModelFiles {
  folder: string;
  /** The ONNX file, as a path in the folder. Without it, the engine chooses. */
  graph?: string;
  /** Whether `graph` is the default file of the model, and not a file that a user named. */
  isDefaultGraph?: boolean;
  /** The licence according to the hub. */
  license?: string;
}

/** A model on this machine, or a hub model with missing files. */
type FoundModel = { files: ModelFiles; hub?: HubId } | { hub: HubId; missing: string[] };

/** The options of a {@link ModelStore}. */
export interface ModelStoreOptions {
  /** The folder of the models that are not embedded. */
  folder: string;
  /** Whether hub models may be downloaded. */
  downloads: boolean;
  /** The address of the hub and the user's token. */
  hub: HubSettings;
}

/** Finds model files by name: `embedded:<name>`, a folder, an ONNX file in a folder, or `owner/name` of the hub. */
export class ModelStore {
  readonly #options: ModelStoreOptions;

  constructor(options: ModelStoreOptions) {
    this.#options = options;
  }

  /**
   * Returns the files of a model.
   *
   * @throws GuardValidationError, without a path, if the model is not on this machine.
   */
  resolve(model: string): ModelFiles {
    const found = this.#find(model);
    if ("files" in found) return found.files;
    throw unknownModel(this.missingMessage(model, found.missing));
  }

  /** Does the same as {@link resolve}, but returns undefined if missing files can be downloaded. */
  resolveLocal(model: string): ModelFiles | undefined {
    if (!this.#options.downloads) return this.resolve(model);
    const found = this.#find(model);
    return "files" in found ? found.files : undefined;
  }

  /**
   * Returns the folder of a model that cannot come from the hub.
   *
   * @throws GuardValidationError, without a path, if there is no such folder.
   */
  resolveFolder(model: string): string {
    const found = this.#find(model);
    if ("hub" in found) {
      const message = `there is no folder ${model}, and hub models are not supported here; use ${EMBEDDED}<name> or a folder`;
      throw unknownModel(message);
    }
    return found.files.folder;
  }

  /** Returns the files of a model, or the names of its missing files. It downloads nothing, so it is fit for a scan. */
  find(model: string): { files: ModelFiles } | { missing: string[] } {
    return this.#find(model);
  }

  /** Returns the files of a model, and downloads them if they are missing. */
  async fetch(model: string, signal?: AbortSignal): Promise<ModelFiles> {
    const local = this.resolveLocal(model);
    if (local) return local;
    const { folder, hub: settings } = this.#options;
    const hub = parseHubId(model) as HubId;
    return fromHub(hub, await pullHubModel(hub, folder, { settings, ...(signal ? { signal } : {}) }));
  }

  /** Returns the error message for a model with missing files. */
  missingMessage(model: string, missing: readonly string[]): string {
    return (
      `the model ${model} is not on this machine: there is no such folder, and ${this.#options.folder} lacks ` +
      `${missing.join(", ")}. Download it with guard-scan models pull ${model}, or call load() of the scanner`
    );
  }

  #find(model: string): FoundModel {
    if (model.startsWith(EMBEDDED)) return { files: findEmbedded(model.slice(EMBEDDED.length)) };
    const { folder: cache } = this.#options;
    const candidates = isAbsolute(model) ? [model] : [resolve(model), join(cache, model)];
    const path = candidates.find((candidate) => existsSync(candidate));
    const files = path === undefined ? findGraph(candidates) : filesAt(path);
    return files ? { files } : this.#findInHub(model, candidates);
  }

  #findInHub(model: string, candidates: readonly string[]): FoundModel {
    const hub = parseHubId(model);
    if (!hub) {
      const places = candidates.join(", ");
      throw unknownModel(
        `${model} is neither ${EMBEDDED}<name> nor a folder or file nor owner/name of the hub; looked for ${places}`,
      );
    }
    const found = findHubModel(hub, this.#options.folder);
    return "missing" in found ? { hub, missing: found.missing } : { hub, files: fromHub(hub, found) };
  }
}

function unknownModel(message: string): GuardValidationError {
  return new GuardValidationError([{ path: "", message }]);
}

function findEmbedded(name: string): ModelFiles {
  const known = modelFolders(embeddedFolder);
  if (!known.includes(name)) {
    throw unknownModel(`there is no embedded model ${name}; there are: ${known.join(", ") || "none"}`);
  }
  const folder = join(embeddedFolder, name);
  // Without the manifest, the files could not be verified.
  const manifest = join(folder, MANIFEST);
  if (!existsSync(manifest)) throw new GuardError("GUARD_MODEL", `the model file ${manifest} is missing`);
  return { folder };
}

/** Returns the files of a model whose folder or ONNX file exists. */
function filesAt(path: string): ModelFiles {
  if (statSync(path).isDirectory()) return { folder: path };
  // Exports have their graphs in a folder `onnx` below that of the tokenizer.
  const folder = existsSync(join(dirname(path), "config.json")) ? dirname(path) : dirname(dirname(path));
  const graph = join(...(folder === dirname(path) ? [] : [basename(dirname(path))]), basename(path));
  return { folder, graph };
}

/** Finds the folder and the ONNX file of a name such as `./toxicity:onnx/model.onnx`. */
function findGraph(candidates: readonly string[]): ModelFiles | undefined {
  for (const candidate of candidates) {
    const [, folder = "", graph = ""] = /^(.+):(.+\.onnx)$/.exec(candidate) ?? [];
    if (folder === "" || !existsSync(folder) || !statSync(folder).isDirectory()) continue;
    if (existsSync(join(folder, graph))) return { folder, graph };
    const graphs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".onnx"));
    const message = `the folder ${folder} has no file ${graph}; its ONNX files are: ${graphs.sort().join(", ") || "none"}`;
    throw unknownModel(message);
  }
  return undefined;
}

function fromHub({ graph }: HubId, files: HubFiles): ModelFiles {
  return { ...files, isDefaultGraph: graph === undefined };
}
