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
import { engineSettings } from "./engine.ts";
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
  const at = (source: ModelEntry["source"], root: string): ModelEntry[] =>
    modelFolders(root).map((name) => {
      const folder = join(root, name);
      const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
      const license: unknown = config.guard?.license ?? config.license;
      return {
        model: source === "embedded" ? EMBEDDED + name : folder,
        source,
        folder,
        size: folderSize(folder),
        labels: labelsOf(config),
        ...(typeof license === "string" ? { license } : {}),
      };
    });
  return [...at("embedded", embeddedFolder), ...at("cached", cacheFolder())];
}

/** The labels of a configuration: those of the model as a whole, otherwise of all its heads. */
function labelsOf(config: { id2label?: object; guard?: { heads?: { labels?: unknown[] }[] } }): string[] {
  const labels = Object.values(config.id2label ?? {});
  return (labels.length > 0 ? labels : (config.guard?.heads ?? []).flatMap((head) => head.labels ?? [])).map(String);
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

/** Where a model's files are; `graph` is a certain ONNX file in the folder. */
interface ModelFiles {
  folder: string;
  graph?: string;
}

/**
 * Finds the files of a model: `embedded:<name>`, a folder, or an ONNX file in such a folder.
 *
 * @throws GuardValidationError, without a path, when there is no such model.
 */
export function resolveModel(model: string): ModelFiles {
  const bad = (message: string) => new GuardValidationError([{ path: "", message }]);
  if (model.startsWith(EMBEDDED)) {
    const name = model.slice(EMBEDDED.length);
    const known = modelFolders(embeddedFolder);
    if (!known.includes(name)) {
      throw bad(`there is no embedded model ${name}; there are: ${known.join(", ") || "none"}`);
    }
    return { folder: join(embeddedFolder, name) };
  }
  const candidates = isAbsolute(model) ? [model] : [resolve(model), join(cacheFolder(), model)];
  const path = candidates.find((candidate) => existsSync(candidate));
  if (!path)
    throw bad(`${model} is neither ${EMBEDDED}<name> nor a folder or file: looked for ${candidates.join(", ")}`);
  if (statSync(path).isDirectory()) return { folder: path };
  // Exports keep their graphs in a folder `onnx` below that of the tokenizer.
  const folder = existsSync(join(dirname(path), "config.json")) ? dirname(path) : dirname(dirname(path));
  return { folder, graph: join(...(folder === dirname(path) ? [] : [basename(dirname(path))]), basename(path)) };
}

/** A classifier of texts or of their tokens: loads once, at the latest when it is first asked. */
export class Classifier {
  /** The model's folder; absent where an ONNX file was named: what the folder says of its own model need not hold for that. */
  readonly folder: string | undefined;
  readonly #source: ModelFiles & { maxLength?: number };
  /** Equal for equal models. */
  readonly #identity: string;
  #loading: Promise<NativeModel> | undefined;
  #closed = false;

  /**
   * @param maxLength longest input in tokens, where it is to be shorter than what the model can read.
   * @throws GuardValidationError when there is no such model; its files are read later.
   */
  constructor(model: string, maxLength?: number) {
    const files = resolveModel(model);
    this.folder = files.graph === undefined ? files.folder : undefined;
    this.#source = { ...files, ...(maxLength === undefined ? {} : { maxLength }) };
    this.#identity = JSON.stringify([files.folder, files.graph, maxLength]);
  }

  /** Loads the model, off the event loop. A failed load is tried again by the next call. */
  async load(signal?: AbortSignal): Promise<{ heads: ModelHead[]; maxLength: number }> {
    const model = await withSignal(this.#model(), signal);
    return { heads: model.heads, maxLength: model.maxLength };
  }

  /**
   * Scores a text.
   *
   * @param passes where answers are shared within a call.
   */
  classify(text: string, reading: Reading, signal?: AbortSignal, passes?: Passes): Promise<Classification> {
    const ask = () => this.#ask((model, abort) => model.classify(text, reading as never, abort), signal);
    return passes ? passes.share(`${reading} ${this.#identity}`, text, ask, signal) : ask();
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

  /** Frees the model, unless something else in the process uses it; calls under way are answered with an error then. */
  async close(): Promise<void> {
    this.#closed = true;
    const model = await this.#loading?.catch(() => undefined);
    model?.close();
  }

  #model(): Promise<NativeModel> {
    if (this.#closed) return Promise.reject(new GuardError("GUARD_CLOSED", "the model is closed"));
    if (!this.#loading) {
      const loading = native(() => addon.loadModel(engineSettings(), this.#source));
      this.#loading = loading;
      loading.catch(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    }
    return this.#loading;
  }
}
