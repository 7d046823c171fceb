import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ownFile } from "../own-files.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { findHubModel, type HubFiles, hubCache } from "./hub/cache.ts";
import { pullHubModel } from "./hub/hub.ts";
import { type HubId, parseHubId } from "./hub/hub-id.ts";
import type { HubSettings } from "./hub/requests.ts";
import { MANIFEST } from "./manifest.ts";

/** The prefix of the names of models that come with the package. */
export const EMBEDDED = "embedded:";

/** What a scanner's option that names a model takes. */
export const MODEL_DESCRIPTION =
  "embedded:<name>, a folder with config.json, tokenizer.json and an ONNX file, an ONNX file in one, folder:file.onnx, or a model of the Hugging Face " +
  "hub, which load() downloads: owner/name, owner/name@revision, owner/name:folder/model.onnx.";

/** The folder of the models that come with the package. */
export const embeddedFolder = ownFile("models");

/**
 * Where models are kept that do not come with the package: `GUARD_MODELS_DIR`, or the cache that Hugging Face's tools use as well.
 */
export function modelsFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.GUARD_MODELS_DIR || hubCache(env));
}

/** The names of the models of guard's own form in a folder. */
export function modelFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, "config.json")))
    .sort();
}

/** Where a model's files are. */
export interface ModelFiles {
  folder: string;
  /** A certain ONNX file, as a path in the folder. */
  graph?: string;
  /** Whether that file is the folder's own model, and not another file that a user named. */
  isItsOwn?: boolean;
  /** The licence that the hub states. */
  license?: string;
}

/** A model that is a folder on this machine, or one of the hub. */
type Found = { files: ModelFiles; hub?: HubId } | { hub: HubId; missing: string[] };

/** Where the files of models are looked for, and whether missing ones may be downloaded. */
export interface ModelStoreOptions {
  /** The folder of the models that do not come with the package. */
  folder: string;
  /** Whether models of the hub may be downloaded; if not, they must be here already. */
  downloads: boolean;
  /** The address of the hub and the token of the user. */
  hub: HubSettings;
}

/** Finds the files of models by name: `embedded:<name>`, a folder, an ONNX file in such a folder, or `owner/name` of the hub. */
export class ModelStore {
  readonly #options: ModelStoreOptions;

  constructor(options: ModelStoreOptions) {
    this.#options = options;
  }

  /**
   * The files of a model.
   *
   * @throws GuardValidationError, without a path, when there is no such model on this machine.
   */
  resolve(model: string): ModelFiles {
    const found = this.#find(model);
    if ("files" in found) return found.files;
    throw new GuardValidationError([{ path: "", message: this.missingMessage(model, found.missing) }]);
  }

  /**
   * The files of a model, or undefined if they are missing and can be downloaded. Otherwise it does the same as
   * {@link resolve}.
   */
  resolveIfHere(model: string): ModelFiles | undefined {
    if (!this.#options.downloads) return this.resolve(model);
    const found = this.#find(model);
    return "files" in found ? found.files : undefined;
  }

  /**
   * The folder of a model of guard's own form, of which the hub has none.
   *
   * @throws GuardValidationError, without a path, when there is no such folder.
   */
  resolveFolder(model: string): string {
    const found = this.#find(model);
    if ("hub" in found) {
      const message = `there is no folder ${model}, and no model of the hub can be used here: write ${EMBEDDED}<name> or a folder`;
      throw new GuardValidationError([{ path: "", message }]);
    }
    return found.files.folder;
  }

  /**
   * The files of a model that is here, or the names of its missing files. It downloads nothing, so it can be used while a text
   * waits.
   */
  look(model: string): { files: ModelFiles } | { missing: string[] } {
    return this.#find(model);
  }

  /** The files of a model, which are downloaded if they are not here. */
  async fetch(model: string, signal?: AbortSignal): Promise<ModelFiles> {
    const here = this.resolveIfHere(model);
    if (here) return here;
    const { folder, hub: settings } = this.#options;
    const hub = parseHubId(model) as HubId;
    return ofHub(hub, await pullHubModel(hub, folder, { settings, ...(signal ? { signal } : {}) }));
  }

  /** The message for a user whose model lacks files. */
  missingMessage(model: string, missing: readonly string[]): string {
    return (
      `the model ${model} is not on this machine: there is no such folder, and what is in ${this.#options.folder} lacks ` +
      `${missing.join(", ")}. guard models pull ${model} downloads it, and so does load() of a scanner`
    );
  }

  #find(model: string): Found {
    const bad = (message: string) => new GuardValidationError([{ path: "", message }]);
    const { folder: cache } = this.#options;
    if (model.startsWith(EMBEDDED)) {
      const name = model.slice(EMBEDDED.length);
      const known = modelFolders(embeddedFolder);
      if (!known.includes(name)) {
        throw bad(`there is no embedded model ${name}; there are: ${known.join(", ") || "none"}`);
      }
      const folder = join(embeddedFolder, name);
      // Without the manifest nothing would be compared with it.
      const manifest = join(folder, MANIFEST);
      if (!existsSync(manifest)) throw new GuardError("GUARD_MODEL", `the model file ${manifest} is missing`);
      return { files: { folder } };
    }
    const candidates = isAbsolute(model) ? [model] : [resolve(model), join(cache, model)];
    const path = candidates.find((candidate) => existsSync(candidate));
    const inFolder = path ? undefined : fileInFolder(candidates);
    if (inFolder) return { files: inFolder };
    if (!path) {
      const hub = parseHubId(model);
      if (!hub) {
        const looked = candidates.join(", ");
        throw bad(
          `${model} is neither ${EMBEDDED}<name> nor a folder or file nor owner/name of the hub: looked for ${looked}`,
        );
      }
      const found = findHubModel(hub, cache);
      if ("missing" in found) return { hub, missing: found.missing };
      return { hub, files: ofHub(hub, found) };
    }
    if (statSync(path).isDirectory()) return { files: { folder: path } };
    // Exports keep their graphs in a folder `onnx` below that of the tokenizer.
    const folder = existsSync(join(dirname(path), "config.json")) ? dirname(path) : dirname(dirname(path));
    const graph = join(...(folder === dirname(path) ? [] : [basename(dirname(path))]), basename(path));
    return { files: { folder, graph } };
  }
}

/** Finds the folder and the file of a name such as `./toxicity:onnx/model.onnx`. */
function fileInFolder(candidates: readonly string[]): ModelFiles | undefined {
  for (const candidate of candidates) {
    const [, folder = "", graph = ""] = /^(.+):(.+\.onnx)$/.exec(candidate) ?? [];
    if (folder === "" || !existsSync(folder) || !statSync(folder).isDirectory()) continue;
    if (existsSync(join(folder, graph))) return { folder, graph };
    const there = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".onnx"));
    const message = `the folder ${folder} has no file ${graph}; its ONNX files are: ${there.sort().join(", ") || "none"}`;
    throw new GuardValidationError([{ path: "", message }]);
  }
  return undefined;
}

function ofHub({ graph }: HubId, files: HubFiles): ModelFiles {
  return { ...files, isItsOwn: graph === undefined };
}
