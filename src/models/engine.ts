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
import { isLinearFolder, LinearClassifier } from "./linear-classifier.ts";
import { ModelStore, modelsFolder } from "./model-files.ts";
import { findRuntimeLibraries } from "./runtime-libraries.ts";
import { type ModelHost, TextModel } from "./text-model.ts";

/** Called for each answer of a model with the model's name and the timings in milliseconds. */
export type AnswerListener = (model: string, timings: EngineTimings) => void;

/**
 * Loads models for scanners. Create it once and pass it to scanners: `new Toxicity({}, { engine })`.
 *
 * Engines with the same library, providers and number of threads share their threads and the models in memory. Each engine has its own
 * limit of waiting texts. Engines with different settings can coexist in a process.
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
  /** Weak references, so that scanners which are never closed can be collected. */
  readonly #models = new Set<WeakRef<TextModel>>();
  readonly #linear = new Set<WeakRef<LinearClassifier>>();
  readonly #linearFolders = new Set<string>();
  readonly #listeners = new Set<AnswerListener>();
  #isClosed = false;

  /**
   * Creates an engine without reading the environment. Nothing is loaded yet.
   *
   * @throws GuardValidationError for an option with an invalid value.
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
      startEngine: () => this.#start(),
      onAnswer: (model, timings) => {
        for (const listener of this.#listeners) listener(model, timings);
      },
    };
  }

  /**
   * Creates an engine with the settings of the environment, which is read once; see {@link engineOptions}.
   *
   * @param overrides options that take precedence over the environment.
   * @throws GuardValidationError for a variable or an option with an invalid value.
   */
  static fromEnvironment(env: NodeJS.ProcessEnv = process.env, overrides: EngineOptions = {}): Engine {
    return new Engine({ ...engineOptions(env), ...overrides });
  }

  /** Starts the engine, if necessary, and returns what it runs on. */
  async info(): Promise<EngineInfo> {
    return native(() => this.#start().info());
  }

  /** The rule tasks that wait or run on the addon's threads in this process. Short tasks run synchronously and are not counted. */
  get ruleTasks(): RuleTasks {
    return addon.ruleTasks();
  }

  /**
   * Creates a model of ONNX Runtime. Its files are found now and loaded later.
   *
   * @param name `embedded:<name>`, a folder, an ONNX file, or a model of the hub.
   * @param maxLength the maximum input length in tokens, if it must be shorter than that of the model.
   * @throws GuardValidationError, without a path, if there is no such model.
   */
  model(name: string, { maxLength }: { maxLength?: number | undefined } = {}): TextModel {
    this.#throwIfClosed();
    const model = new TextModel(this.#host, name, maxLength);
    for (const known of this.#models) {
      if (!known.deref()) this.#models.delete(known);
    }
    this.#models.add(new WeakRef(model));
    return model;
  }

  /**
   * Reads a model into memory. An engine with the same settings that loads it later shares that memory.
   *
   * @returns a function that releases the model. Its memory is freed unless an engine has loaded it.
   * @throws GuardError if the model cannot be read. Nothing is downloaded.
   */
  async preload(name: string, { maxLength }: { maxLength?: number | undefined } = {}): Promise<() => void> {
    this.#throwIfClosed();
    return new TextModel(this.#host, name, maxLength).preload();
  }

  /**
   * Whether a model is a linear classifier. Hub models never are.
   *
   * @throws GuardValidationError, without a path, if there is no such model.
   */
  isLinear(name: string): boolean {
    const found = this.#host.files.find(name);
    return "files" in found && isLinearFolder(found.files.folder);
  }

  /**
   * Creates a linear classifier. Its files are found now and loaded later.
   *
   * @param name `embedded:<name>` or a folder.
   * @throws GuardValidationError, without a path, if there is no such model.
   */
  linear(name: string): LinearClassifier {
    this.#throwIfClosed();
    const folder = this.#host.files.resolveFolder(name);
    this.#linearFolders.add(folder);
    const model = new LinearClassifier(folder);
    for (const known of this.#linear) {
      if (!known.deref()) this.#linear.delete(known);
    }
    this.#linear.add(new WeakRef(model));
    return model;
  }

  /** Detects languages, for scanners whose model knows only some of them. They share it and must not close it. */
  get languages(): LanguageDetector {
    this.#languages ??= new LanguageDetector(this.linear("embedded:language"));
    return this.#languages;
  }

  /**
   * Returns the folder with the `config.json` of a model, without loading the model.
   *
   * @throws GuardValidationError, without a path, if the model is not on this machine.
   */
  folder(name: string): string {
    return this.#host.files.resolve(name).folder;
  }

  /** The folders of all created models that are on this machine, in alphabetical order. */
  get folders(): string[] {
    const folders = [...this.#models].flatMap((known) => known.deref()?.configFolder ?? []);
    return [...new Set([...folders, ...this.#linearFolders])].sort();
  }

  /** How many texts wait or run now, by the names of the loaded models. */
  get pending(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const known of this.#models) {
      const model = known.deref();
      if (model?.isLoaded) counts[model.name] = (counts[model.name] ?? 0) + model.pending;
    }
    return counts;
  }

  /**
   * Subscribes to the answers of models.
   *
   * @returns a function that unsubscribes.
   */
  onAnswer(listener: AnswerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Runs the self-tests of the addon and of each loaded model, which compare answers for known texts. Each model also does this when it
   * loads; a later run detects memory that was corrupted since then.
   *
   * @throws GuardError `GUARD_MODEL` if an answer differs, and `GUARD_OVERLOADED` if too many texts wait for a model.
   */
  async selfTest(signal?: AbortSignal): Promise<void> {
    await testAddon();
    const models = new Map<string, { selfTest(signal?: AbortSignal): Promise<void> }>();
    for (const model of [...this.#models].flatMap((known) => known.deref() ?? [])) {
      if (model.isLoaded) models.set(model.identity, model);
    }
    for (const model of [...this.#linear].flatMap((known) => known.deref() ?? [])) models.set(model.folder, model);
    signal?.throwIfAborted();
    await awaitInOrder([...models.values()].map((model) => model.selfTest(signal)));
  }

  /** Closes all models of this engine. It creates no more models afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#models].map((known) => known.deref()?.close()));
    this.#models.clear();
    await this.#languages?.close();
  }

  #start(): NativeEngine {
    if (!this.#native) {
      const { libraries = findRuntimeLibraries(), providers = [], threads } = this.#options;
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

  #throwIfClosed(): void {
    if (this.#isClosed) throw new GuardError("GUARD_CLOSED", "the engine is closed");
  }
}

/** @throws GuardError if the rules of the addon do not find the URL of a known text. */
async function testAddon(): Promise<void> {
  const found = await native(() => addon.findUrls("Look at https://example.com/a there."));
  if (found?.spans.join() === "8,29") return;
  throw new GuardError("GUARD_SCANNER", "the addon fails its self-test: it does not find the URL of a known text");
}

let shared: Engine | undefined;

/**
 * Returns the engine of scanners that are created without one. It has the settings of the environment at its first use. Close the
 * scanners, not this engine, because others in the process may use it.
 */
export function defaultEngine(): Engine {
  shared ??= Engine.fromEnvironment();
  return shared;
}
