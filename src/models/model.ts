import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { GuardError, GuardValidationError } from "../errors.ts";
import {
  addon,
  type Classification,
  type ModelHead,
  type ModelSpan,
  type NativeModel,
  native,
  type PairPart,
} from "../native.ts";
import { withSignal } from "../with-signal.ts";
import { engineSettings } from "./engine-settings.ts";
import { findHubModel, type HubFiles, listHubModels, pullHubModel, warnOfLicense } from "./hub/hub.ts";
import { type HubId, parseHubId } from "./hub/hub-id.ts";
import type { Passes } from "./passes.ts";

/** How a model reads a text that may be longer than its maximum input length. */
export const READINGS = [
  "windows",
  "full",
  "sentence",
  "truncate_token_head_tail",
  "truncate_head_tail",
  "chunks",
] as const;
export type Reading = (typeof READINGS)[number];

const EMBEDDED = "embedded:";

/** What a scanner's option that names a model takes. */
export const MODEL_DESCRIPTION =
  "embedded:<name>, a folder with config.json, tokenizer.json and an ONNX file, an ONNX file in one, or a model of the Hugging Face " +
  "hub, which load() downloads: owner/name, owner/name@revision, owner/name:folder/model.onnx.";

/** The folder of the models that come with the package. */
export const embeddedFolder = fileURLToPath(new URL("../../models", import.meta.url));

/** Where models are kept that do not come with the package: `GUARD_MODELS_DIR`, or a folder in the user's cache. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.GUARD_MODELS_DIR) return resolve(env.GUARD_MODELS_DIR);
  const base = { win32: env.LOCALAPPDATA, darwin: join(homedir(), "Library", "Caches") }[process.platform as string];
  return join(base ?? env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "guard", "models");
}

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
}

/** Lists the models that are embedded in the package or in the cache folder. */
export function listModels(): ModelEntry[] {
  const entry = (source: ModelEntry["source"], model: string, folder: string, licensed?: string): ModelEntry => {
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    const license: unknown = licensed ?? config.guard?.license ?? config.license;
    return {
      model,
      source,
      folder,
      size: folderSize(folder),
      labels: labelsOf(config),
      ...(typeof license === "string" ? { license } : {}),
    };
  };
  const cache = cacheFolder();
  return [
    ...modelFolders(embeddedFolder).map((name) => entry("embedded", EMBEDDED + name, join(embeddedFolder, name))),
    ...modelFolders(cache).map((name) => entry("cached", join(cache, name), join(cache, name))),
    ...listHubModels(cache).map(({ model, folder, license }) => entry("cached", model, folder, license)),
  ];
}

/** The labels of a configuration: those of its heads, otherwise of the model as a whole. */
function labelsOf(config: { id2label?: object; guard?: { heads?: { labels?: unknown[] }[] } }): string[] {
  const labels = (config.guard?.heads ?? []).flatMap((head) => head.labels ?? []);
  return (labels.length > 0 ? labels : Object.values(config.id2label ?? {})).map(String);
}

function modelFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, "config.json")))
    .sort();
}

function folderSize(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Where a model's files are. */
interface ModelFiles {
  folder: string;
  /** A certain ONNX file in the folder. */
  graph?: string;
  /** Whether that file is the one that the folder is about, and no other that somebody named. */
  isItsOwn?: boolean;
  /** The licence that the hub names. */
  license?: string;
}

/** A model that is a folder on this machine, or one of the hub. */
type Found = { files: ModelFiles; hub?: HubId } | { hub: HubId; missing: string[] };

let mayBeMissing = true;

/**
 * Runs something that makes classifiers, none of which may have to be downloaded later.
 *
 * @returns what `make` returns.
 */
export function withoutDownloads<T>(make: () => T): T {
  const before = mayBeMissing;
  mayBeMissing = false;
  try {
    return make();
  } finally {
    mayBeMissing = before;
  }
}

/**
 * Finds the files of a model: `embedded:<name>`, a folder, an ONNX file in such a folder, or a model of the hub,
 * `owner/name`, that was downloaded.
 *
 * @throws GuardValidationError, without a path, when there is no such model on this machine.
 */
export function resolveModel(model: string): ModelFiles {
  const found = find(model);
  if ("files" in found) return found.files;
  throw new GuardValidationError([{ path: "", message: missingMessage(model, found) }]);
}

/**
 * The folder of a model of guard's own form, of which the hub has none.
 *
 * @throws GuardValidationError, without a path, when there is no such folder.
 */
export function resolveFolder(model: string): string {
  const found = find(model);
  if ("hub" in found) {
    const message = `there is no folder ${model}, and no model of the hub can be used here: write ${EMBEDDED}<name> or a folder`;
    throw new GuardValidationError([{ path: "", message }]);
  }
  return found.files.folder;
}

/** The files of a model, or nothing where it can be downloaded; otherwise as {@link resolveModel}. */
export function resolveIfHere(model: string): ModelFiles | undefined {
  if (!mayBeMissing) return resolveModel(model);
  const found = find(model);
  return "files" in found ? found.files : undefined;
}

function missingMessage(model: string, { missing }: { missing: readonly string[] }): string {
  return (
    `the model ${model} is not on this machine: there is no such folder, and what is in ${cacheFolder()} lacks ` +
    `${missing.join(", ")}. guard models pull ${model} downloads it, and so does load() of a scanner`
  );
}

function find(model: string): Found {
  const bad = (message: string) => new GuardValidationError([{ path: "", message }]);
  if (model.startsWith(EMBEDDED)) {
    const name = model.slice(EMBEDDED.length);
    const known = modelFolders(embeddedFolder);
    if (!known.includes(name)) {
      throw bad(`there is no embedded model ${name}; there are: ${known.join(", ") || "none"}`);
    }
    return { files: { folder: join(embeddedFolder, name) } };
  }
  const candidates = isAbsolute(model) ? [model] : [resolve(model), join(cacheFolder(), model)];
  const path = candidates.find((candidate) => existsSync(candidate));
  if (!path) {
    const hub = parseHubId(model);
    if (!hub) {
      const looked = candidates.join(", ");
      throw bad(
        `${model} is neither ${EMBEDDED}<name> nor a folder or file nor owner/name of the hub: looked for ${looked}`,
      );
    }
    const found = findHubModel(hub, cacheFolder());
    if ("missing" in found) return { hub, missing: found.missing };
    return { hub, files: ofHub(hub, found) };
  }
  if (statSync(path).isDirectory()) return { files: { folder: path } };
  // Exports keep their graphs in a folder `onnx` below that of the tokenizer.
  const folder = existsSync(join(dirname(path), "config.json")) ? dirname(path) : dirname(dirname(path));
  const graph = join(...(folder === dirname(path) ? [] : [basename(dirname(path))]), basename(path));
  return { files: { folder, graph } };
}

function ofHub({ graph }: HubId, files: HubFiles): ModelFiles {
  return { ...files, isItsOwn: graph === undefined };
}

/** A classifier of texts or of their tokens: loads once, at the latest when it is first asked. */
export class Classifier {
  readonly #name: string;
  readonly #maxLength: number | undefined;
  /** Absent until a model of the hub is downloaded. */
  #files: ModelFiles | undefined;
  #loading: Promise<NativeModel> | undefined;
  /** Its signal ends downloads, and tells that the model is closed. */
  readonly #closing = new AbortController();

  /**
   * @param maxLength longest input in tokens, where it is to be shorter than what the model can read.
   * @throws GuardValidationError when there is no such model; its files are read later. One of the hub need not be here yet.
   */
  constructor(model: string, maxLength?: number) {
    this.#name = model;
    this.#maxLength = maxLength;
    this.#files = resolveIfHere(model);
  }

  /**
   * The model's folder; absent where an ONNX file was named, of which what the folder says of its own model need not hold, and
   * until a model of the hub is downloaded.
   */
  get folder(): string | undefined {
    const { folder, graph, isItsOwn = false } = this.#files ?? {};
    return graph === undefined || isItsOwn ? folder : undefined;
  }

  /** Downloads the model where it is one of the hub and not here, and loads it. A failure is tried again by the next call. */
  async load(signal?: AbortSignal): Promise<{ heads: ModelHead[]; maxLength: number }> {
    this.#closing.signal.throwIfAborted();
    if (!this.#files) {
      const hub = parseHubId(this.#name) as HubId;
      const either = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
      this.#files = resolveIfHere(this.#name) ?? ofHub(hub, await pullHubModel(hub, cacheFolder(), { signal: either }));
    }
    return this.described(signal);
  }

  /** What the model is; loads it off the event loop, but downloads nothing. For what happens while a text waits. */
  async described(signal?: AbortSignal): Promise<{ heads: ModelHead[]; maxLength: number }> {
    const model = await withSignal(this.#model(), signal);
    return { heads: model.heads, maxLength: model.maxLength };
  }

  /**
   * Scores a text.
   *
   * @param passes where answers are shared within a call.
   */
  classify(text: string, reading: Reading, signal?: AbortSignal, passes?: Passes): Promise<Classification> {
    const ask = () => this.#ask((model, abort) => model.classify(text, reading, abort), signal);
    return passes ? passes.share(`${reading} ${this.#identity()}`, text, ask, signal) : ask();
  }

  /** Finds what the model's heads over tokens tell of all of a text: in order, without overlaps within a head. */
  async findSpans(text: string, signal?: AbortSignal, passes?: Passes): Promise<ModelSpan[]> {
    return (await this.classify(text, "windows", signal, passes)).spans;
  }

  /** Scores a claim by each window of a text that it is on; of a long claim each part. */
  classifyPair(text: string, claim: string, signal?: AbortSignal): Promise<PairPart[]> {
    return this.#ask((model, abort) => model.classifyPair(text, claim, abort), signal);
  }

  async #ask<T>(
    ask: (model: NativeModel, abort: InstanceType<typeof addon.Abort>) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const model = await withSignal(this.#model(), signal);
    // A signal that was aborted since the model is here tells no listener.
    signal?.throwIfAborted();
    const abort = new addon.Abort();
    const onAbort = () => abort.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await native(() => ask(model, abort));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Frees the model, unless something else in the process uses it; calls and downloads under way end with an error then. */
  async close(): Promise<void> {
    this.#closing.abort(new GuardError("GUARD_CLOSED", "the model is closed"));
    const model = await this.#loading?.catch(() => undefined);
    model?.close();
  }

  #model(): Promise<NativeModel> {
    const { aborted, reason } = this.#closing.signal;
    if (aborted) return Promise.reject(reason);
    if (!this.#loading) {
      const loading = this.#open();
      this.#loading = loading;
      loading.catch(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    }
    return this.#loading;
  }

  /** Equal for equal models. */
  #identity(): string {
    return JSON.stringify([this.#files?.folder ?? this.#name, this.#files?.graph, this.#maxLength]);
  }

  async #open(): Promise<NativeModel> {
    const found = this.#files ? { files: this.#files } : find(this.#name);
    // Said of a scan, whose text is not at fault.
    if (!("files" in found)) throw new GuardError("GUARD_MODEL", missingMessage(this.#name, found));
    this.#files = found.files;
    const { folder, graph, license } = found.files;
    if (license !== undefined) warnOfLicense(this.#name, license);
    const source = {
      folder,
      ...(graph === undefined ? {} : { graph }),
      ...(this.#maxLength === undefined ? {} : { maxLength: this.#maxLength }),
    };
    return native(() => addon.loadModel(engineSettings(), source));
  }
}
