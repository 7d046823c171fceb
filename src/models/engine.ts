import { addon, type EngineInfo, type EngineTimings, type NativeEngine, native, type RuleTasks } from "../native.ts";
import { GuardError } from "../support/errors.ts";
import { checkInstalledVersion } from "../support/optional-packages.ts";
import { awaitInOrder } from "../support/promises.ts";
import {
  checkEngineOptions,
  DEFAULT_MAX_WINDOWS,
  DEFAULT_QUEUE_CAPACITY,
  type EngineOptions,
  engineOptions,
} from "./engine-options.ts";
import { hubSettings } from "./hub/requests.ts";
import { LanguageDetector } from "./languages.ts";
import { isLinearFolder, LinearClassifier } from "./linear.ts";
import { ModelStore, modelsFolder } from "./model-files.ts";
import { runtimeLibraries } from "./runtime-libraries.ts";
import { type ModelHost, TextModel } from "./text-model.ts";

/** Called for each answer of a model with the model's name and how the answer spent its time, in milliseconds. */
export type AnswerListener = (model: string, timings: EngineTimings) => void;

/**
 * Loads models for scanners. It is made once with its settings, and passed to whoever loads models: `new Toxicity({}, { engine })`.
 *
 * Engines of the same library, providers and number of threads share their threads and the models in memory; how many texts may
 * wait is a limit of each engine. Engines with other settings can live in the same process.
 *
 * @example
 * const engine = new Engine({ threads: 2, queueCapacity: 64 });
 * const toxicity = new input.Toxicity({}, { engine });
 * await toxicity.scan("Have a nice day!");
 * await engine.close();
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #host: ModelHost;
  #native: NativeEngine | undefined;
  #languages: LanguageDetector | undefined;
  /** Scanners that nobody closes must not stay in memory because of this list. */
  readonly #models = new Set<WeakRef<TextModel>>();
  readonly #linear = new Set<WeakRef<LinearClassifier>>();
  /** The folders of the linear models. */
  readonly #linearFolders = new Set<string>();
  readonly #listeners = new Set<AnswerListener>();
  #isClosed = false;

  /**
   * An engine with these settings and no others: the environment is not read. Nothing is loaded yet.
   *
   * @throws GuardValidationError for an option with an impossible value.
   */
  constructor(options: EngineOptions = {}) {
    checkEngineOptions(options);
    this.#options = options;
    this.#host = {
      files: new ModelStore({
        folder: options.modelsDir ?? modelsFolder({}),
        downloads: options.downloads ?? true,
        hub: options.hub ?? hubSettings({}),
      }),
      queueCapacity: options.queueCapacity ?? DEFAULT_QUEUE_CAPACITY,
      maxWindows: options.maxWindows ?? DEFAULT_MAX_WINDOWS,
      native: () => this.#start(),
      answered: (model, timings) => {
        for (const listener of this.#listeners) listener(model, timings);
      },
    };
  }

  /**
   * An engine with the settings of the environment, which is read now and never again; see {@link engineOptions}.
   *
   * @param overrides settings that come before those of the environment.
   * @throws GuardValidationError for a variable or an option with an impossible value.
   */
  static fromEnvironment(env: NodeJS.ProcessEnv = process.env, overrides: EngineOptions = {}): Engine {
    return new Engine({ ...engineOptions(env), ...overrides });
  }

  /** Starts the engine, if it is not started yet, and tells what it runs on. */
  async info(): Promise<EngineInfo> {
    return native(() => this.#start().info());
  }

  /** How much work with rules is under way in this process, but for what is done at once. It waits for threads of its own. */
  get ruleTasks(): RuleTasks {
    return addon.ruleTasks();
  }

  /**
   * A model of ONNX Runtime. Its files are looked for now and loaded later.
   *
   * @param name `embedded:<name>`, a folder, an ONNX file, or a model of the hub.
   * @param maxLength the longest input in tokens, if it must be shorter than what the model can read.
   * @throws GuardValidationError, without a path, when there is no such model.
   */
  model(name: string, { maxLength }: { maxLength?: number | undefined } = {}): TextModel {
    this.#refuseIfClosed();
    const model = new TextModel(this.#host, name, maxLength);
    for (const known of this.#models) {
      if (!known.deref()) this.#models.delete(known);
    }
    this.#models.add(new WeakRef(model));
    return model;
  }

  /**
   * Reads a model into memory for those who will load it with an engine of the same settings, which share what is in memory.
   *
   * @returns what lets go of the model: it is freed then, unless somebody has loaded it.
   * @throws GuardError when it cannot be read. Nothing is downloaded.
   */
  async readAhead(name: string, { maxLength }: { maxLength?: number | undefined } = {}): Promise<() => void> {
    this.#refuseIfClosed();
    return new TextModel(this.#host, name, maxLength).readAhead();
  }

  /**
   * Whether a model is a linear one: a folder with the weights of one. Models of the hub never are.
   *
   * @throws GuardValidationError, without a path, when there is no such model.
   */
  isLinear(name: string): boolean {
    const found = this.#host.files.look(name);
    return "files" in found && isLinearFolder(found.files.folder);
  }

  /**
   * A linear model. Its files are looked for now and loaded later.
   *
   * @param name `embedded:<name>` or a folder.
   * @throws GuardValidationError, without a path, when there is no such model.
   */
  linear(name: string): LinearClassifier {
    this.#refuseIfClosed();
    const folder = this.#host.files.resolveFolder(name);
    this.#linearFolders.add(folder);
    const model = new LinearClassifier(folder);
    for (const known of this.#linear) {
      if (!known.deref()) this.#linear.delete(known);
    }
    this.#linear.add(new WeakRef(model));
    return model;
  }

  /** Tells what languages texts are in, for scanners whose model knows a few languages only. They share it: nobody closes it. */
  get languages(): LanguageDetector {
    this.#languages ??= new LanguageDetector(this.linear("embedded:language"));
    return this.#languages;
  }

  /**
   * The folder with the `config.json` of a model. The model is not loaded.
   *
   * @throws GuardValidationError, without a path, when there is no such model on this machine.
   */
  folder(name: string): string {
    return this.#host.files.resolve(name).folder;
  }

  /** The folders of all models that were made and are on this machine, in alphabetical order. */
  get folders(): string[] {
    const folders = [...this.#models].flatMap((known) => known.deref()?.configFolder ?? []);
    return [...new Set([...folders, ...this.#linearFolders])].sort();
  }

  /** How many texts wait or run now, by the names of the models that are loaded. */
  get pending(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const known of this.#models) {
      const model = known.deref();
      if (model?.isLoaded) counts[model.name] = (counts[model.name] ?? 0) + model.pending;
    }
    return counts;
  }

  /**
   * Calls a listener for each answer of a model.
   *
   * @returns a function that ends it.
   */
  onAnswer(listener: AnswerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Checks that the addon and each loaded model say of known texts what they should: for models, of those in `self-test.json` of
   * their folders. Each model does this itself when it is loaded; memory that was damaged since then shows here.
   *
   * @throws GuardError `GUARD_MODEL` for an answer that differs, `GUARD_OVERLOADED` when too many texts wait for a model.
   */
  async selfTest(signal?: AbortSignal): Promise<void> {
    await checkAddon();
    const models = new Map<string, { selfTest(signal?: AbortSignal): Promise<void> }>();
    for (const model of [...this.#models].flatMap((known) => known.deref() ?? [])) {
      if (model.isLoaded) models.set(model.identity, model);
    }
    for (const model of [...this.#linear].flatMap((known) => known.deref() ?? [])) models.set(model.folder, model);
    signal?.throwIfAborted();
    await awaitInOrder([...models.values()].map((model) => model.selfTest(signal)));
  }

  /** Closes all models that this engine has made; it makes no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#models].map((known) => known.deref()?.close()));
    this.#models.clear();
    await this.#languages?.close();
  }

  #start(): NativeEngine {
    if (!this.#native) {
      const { libraries = runtimeLibraries(), providers = [], threads } = this.#options;
      // Only the library of this package has providers other than the CPU's.
      const needsPackage = !this.#options.libraries && providers.some((provider) => provider !== "cpu");
      if (needsPackage) checkInstalledVersion("onnxruntime-node");
      this.#native = new addon.NativeEngine({
        libraries: [...libraries],
        providers: [...providers],
        ...(threads === undefined ? {} : { threads }),
      });
    }
    return this.#native;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new GuardError("GUARD_CLOSED", "the engine is closed");
  }
}

/** @throws GuardError when the rules of the addon do not find what they should. */
async function checkAddon(): Promise<void> {
  const found = await native(() => addon.findUrls("Look at https://example.com/a there."));
  if (found?.places.join() === "8,29") return;
  throw new GuardError("GUARD_SCANNER", "the addon fails its self-test: it does not find the URL of a known text");
}

let shared: Engine | undefined;

/**
 * The engine of scanners that are given none, with the settings of the environment: made when the first of them is built. Close
 * the scanners, not this engine, where others in the process may use it.
 */
export function defaultEngine(): Engine {
  shared ??= Engine.fromEnvironment();
  return shared;
}
