import {
  type Abortable,
  addon,
  type ClaimPart,
  type Classification,
  type EngineTimings,
  type ModelHead,
  type ModelSpan,
  type NativeEngine,
  type NativeModel,
  native,
} from "../native.ts";
import { errorKind, GuardError } from "../support/errors.ts";
import { awaitUnlessAborted } from "../support/promises.ts";
import { type CallContext, type ClassifyOptions, shareAnswer } from "./call-context.ts";
import { type ModelIdentity, readModelIdentity } from "./evaluation.ts";
import type { ModelFiles, ModelStore } from "./model-files.ts";
import { warnAboutLicense } from "./notices.ts";
import { selfTest } from "./self-test.ts";

/** The maximum number of UTF-8 bytes per UTF-16 code unit. Each byte may be a token of its own. */
const MAX_BYTES_PER_UNIT = 3;

/** No limit on windows: the largest number that the addon accepts. */
export const ALL_WINDOWS = 2 ** 32 - 1;

/** The part of an engine that its models use. */
export interface ModelHost {
  /** Finds and downloads model files. */
  readonly files: ModelStore;
  /** How many texts may wait for the model before calls are refused. */
  readonly queueCapacity: number;
  /** The default for `ClassifyOptions.maxWindows`. */
  readonly maxWindows: number;
  /** Starts the native engine, or returns the running one. */
  startEngine(): NativeEngine;
  /** Called for each answer of a model with its timings. */
  onAnswer(model: string, timings: EngineTimings): void;
}

/** A model that classifies texts or their tokens. It loads once, at the latest on its first call. */
export class TextModel {
  /** The name that the caller gave, such as `embedded:prompt-injection`. */
  readonly name: string;
  readonly #host: ModelHost;
  readonly #maxLength: number | undefined;
  /** Absent until a hub model is downloaded. */
  #files: ModelFiles | undefined;
  #loading: Promise<NativeModel> | undefined;
  #loaded: NativeModel | undefined;
  #about: ModelIdentity = {};
  /** Aborts downloads when the model is closed. */
  readonly #closing = new AbortController();

  /**
   * Use `Engine.model` to create a model.
   *
   * @param maxLength the maximum input length in tokens, if it must be shorter than that of the model.
   * @throws GuardValidationError if the model does not exist. Its files are read later, and a hub model may be downloaded later.
   */
  constructor(host: ModelHost, name: string, maxLength?: number) {
    this.name = name;
    this.#host = host;
    this.#maxLength = maxLength;
    this.#files = host.files.resolveLocal(name);
  }

  /**
   * The folder with the thresholds and curves of the model. It is absent if the caller named an ONNX file, because the figures may
   * describe another file, and until a hub model is downloaded.
   */
  get folder(): string | undefined {
    const { folder, graph, isDefaultGraph = false } = this.#files ?? {};
    return graph === undefined || isDefaultGraph ? folder : undefined;
  }

  /** The folder with the model's `config.json`. It is absent until a hub model is downloaded. */
  get configFolder(): string | undefined {
    return this.#files?.folder;
  }

  /** Metadata from the model's folder. It is empty until the model is loaded. */
  get about(): ModelIdentity {
    return this.#about;
  }

  /** Whether the model is in memory. */
  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** The number of texts that wait or run now. */
  get pending(): number {
    return this.#loaded?.pending ?? 0;
  }

  /** Loads the model, and downloads a hub model first if necessary. The next call retries after a failure. */
  async load(signal?: AbortSignal): Promise<{ heads: ModelHead[]; maxLength: number }> {
    this.#closing.signal.throwIfAborted();
    if (!this.#files) {
      const either = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
      this.#files = await this.#host.files.fetch(this.name, either);
    }
    return this.describe({ signal });
  }

  /** Returns the heads and the input length. It loads the model off the event loop, but downloads nothing, so it is fit for a scan. */
  async describe({ signal }: Abortable = {}): Promise<{ heads: ModelHead[]; maxLength: number }> {
    const model = await awaitUnlessAborted(this.#model(), signal);
    return { heads: model.heads, maxLength: model.maxLength };
  }

  /**
   * Runs the self-test of the model, if it is loaded.
   *
   * @throws GuardError `GUARD_MODEL` if an answer differs, and `GUARD_OVERLOADED` if too many texts wait for the model.
   */
  async selfTest(signal?: AbortSignal): Promise<void> {
    if (this.#loaded) await this.#test(this.#loaded, signal);
  }

  /**
   * Classifies a text.
   *
   * @returns the answer for each part that the strategy makes of the text. Scanners of one call share it.
   */
  classify(
    text: string,
    { strategy, maxWindows = this.#host.maxWindows, head }: ClassifyOptions,
    context: CallContext = {},
  ): Promise<Classification> {
    const { identity } = this;
    const exitsEarly = head?.hasEarlyExit === true;
    const ask = () =>
      this.#ask((model, abort) => model.classify(text, strategy, maxWindows, abort, exitsEarly), context);
    // A text never has more windows than bytes, so a larger limit makes no difference to the answer.
    const readsAll = text.length * MAX_BYTES_PER_UNIT < maxWindows;
    const question = `${strategy} ${readsAll ? "" : maxWindows} ${exitsEarly ? "early " : ""}${identity}`;
    return shareAnswer(context, question, text, ask);
  }

  /**
   * Finds spans in the whole text with the token heads of the model. They are in order, and spans of the same head do not overlap.
   */
  async findSpans(text: string, context: CallContext = {}): Promise<ModelSpan[]> {
    return (await this.classify(text, { strategy: "windows", maxWindows: ALL_WINDOWS }, context)).spans;
  }

  /**
   * Scores pairs of a claim and a window of the premise. A long claim is split into parts. The premise is tokenized once.
   *
   * @returns the scored parts of each claim, in the order of the claims. The list is empty if the claim or the premise has no token.
   */
  async scoreClaims(premise: string, claims: readonly string[], context: CallContext = {}): Promise<ClaimPart[][]> {
    const ask = (model: NativeModel, abort: Abort) => model.scoreClaims(premise, [...claims], abort);
    const { parts } = await this.#ask(ask, context);
    const byClaim: ClaimPart[][] = claims.map(() => []);
    for (const part of parts) byClaim[part.claim]?.push(part);
    return byClaim;
  }

  async #ask<T extends { timings: EngineTimings }>(
    ask: (model: NativeModel, abort: Abort) => Promise<T>,
    { signal, answers }: CallContext,
    opened?: NativeModel,
  ): Promise<T> {
    const model = opened ?? (await awaitUnlessAborted(this.#model(), signal));
    // The signal may have aborted while the model loaded, and an aborted signal never calls a new listener.
    signal?.throwIfAborted();
    const abort = new addon.Abort();
    const onAbort = () => abort.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const ended = answers?.observer?.modelAsked?.(this.name);
    let answer: T;
    try {
      answer = await native(() => ask(model, abort));
    } catch (error) {
      const reason = signal?.aborted ? signal.reason : error;
      ended?.({ error: errorKind(reason) });
      throw reason;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    answers?.addTimings(this.name, answer.timings);
    // Only self-tests pass the model, and they are not work for a caller.
    if (!opened) this.#host.onAnswer(this.name, answer.timings);
    ended?.({ timings: answer.timings });
    return answer;
  }

  /**
   * Closes the model. Running calls and downloads end with an error. The memory is freed unless another part of the process uses the
   * same model.
   */
  async close(): Promise<void> {
    this.#closing.abort(new GuardError("GUARD_CLOSED", "the model is closed"));
    const model = await this.#loading?.catch(() => undefined);
    this.#loaded = undefined;
    model?.close();
  }

  #model(): Promise<NativeModel> {
    const { aborted, reason } = this.#closing.signal;
    if (aborted) return Promise.reject(reason);
    if (!this.#loading) {
      const loading = this.#open();
      this.#loading = loading;
      loading.then(
        (model) => {
          this.#loaded = model;
        },
        () => {
          if (this.#loading === loading) this.#loading = undefined;
        },
      );
    }
    return this.#loading;
  }

  /** A key that is equal for equal models. */
  get identity(): string {
    return JSON.stringify([this.#files?.folder ?? this.name, this.#files?.graph, this.#maxLength]);
  }

  /**
   * Reads the model into memory without its self-test. A later `load` shares that memory.
   *
   * @returns a function that releases the memory.
   */
  async preload(): Promise<() => void> {
    const model = await this.#read();
    return () => model.close();
  }

  async #read(): Promise<NativeModel> {
    const { files: store, queueCapacity } = this.#host;
    const found = this.#files ? { files: this.#files } : store.find(this.name);
    // The caller that scans a text gets this error. It is not a validation error, because the text is fine.
    if (!("files" in found)) throw new GuardError("GUARD_MODEL", store.missingMessage(this.name, found.missing));
    this.#files = found.files;
    const { folder, graph } = found.files;
    const source = {
      folder,
      ...(graph === undefined ? {} : { graph }),
      ...(this.#maxLength === undefined ? {} : { maxLength: this.#maxLength }),
    };
    return native(() => this.#host.startEngine().load(source, queueCapacity));
  }

  async #open(): Promise<NativeModel> {
    const model = await this.#read();
    if (this.folder !== undefined) this.#about = readModelIdentity(this.folder);
    const license = this.#files?.license;
    if (license !== undefined) warnAboutLicense(this.name, license);
    try {
      await this.#test(model);
    } catch (error) {
      model.close();
      throw error;
    }
    return model;
  }

  async #test(model: NativeModel, signal?: AbortSignal): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    const { heads } = model;
    await selfTest(this.name, folder, model, async (text) => {
      const ask = (asked: NativeModel, abort: Abort) => asked.classify(text, "windows", ALL_WINDOWS, abort);
      const { parts, spans } = await this.#ask(ask, { signal }, model);
      const [part, more] = parts;
      // With a shorter maxLength, the model splits the text into several parts, for which no expected scores exist.
      if (part === undefined || more !== undefined) return undefined;
      const scoresOf = ({ labels }: ModelHead, head: number) =>
        Object.fromEntries(labels.map((label, index) => [label, part.heads[head]?.[index] ?? Number.NaN]));
      return {
        scores: Object.fromEntries(heads.map((head, index) => [head.name, scoresOf(head, index)])),
        spans: spans.map(({ kind, start, end }) => ({ kind, text: text.slice(start, end) })),
      };
    });
  }
}

type Abort = InstanceType<typeof addon.Abort>;
