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
import { type ModelIdentity, modelIdentity } from "./evaluation.ts";
import type { ModelFiles, ModelStore } from "./model-files.ts";
import { warnOfLicense } from "./notices.ts";
import { selfTest } from "./self-test.ts";

/** The most bytes of a UTF-16 code unit in UTF-8, each of which may be a token of its own. */
const LONGEST_CHARACTER = 3;

/** More windows than any text has: the largest number that the addon takes. */
export const ALL_WINDOWS = 2 ** 32 - 1;

/** What a model needs of the engine that made it. */
export interface ModelHost {
  /** Where files are found. */
  readonly files: ModelStore;
  /** Texts that may wait for the model before calls are refused. */
  readonly queueCapacity: number;
  /** Windows of a text that a model reads which judges it. */
  readonly maxWindows: number;
  /** Loads models. */
  native(): NativeEngine;
  /** Called for each answer of a model, with how the answer spent its time. */
  answered(model: string, timings: EngineTimings): void;
}

/** A model that judges texts, or tokens of texts. It loads once, at the latest when it is first asked. */
export class TextModel {
  /** The name that the model was asked for by, such as `embedded:prompt-injection`. */
  readonly name: string;
  readonly #host: ModelHost;
  readonly #maxLength: number | undefined;
  /** Absent until a model of the hub is downloaded. */
  #files: ModelFiles | undefined;
  #loading: Promise<NativeModel> | undefined;
  #loaded: NativeModel | undefined;
  #about: ModelIdentity = {};
  /** Its signal ends downloads, and tells that the model is closed. */
  readonly #closing = new AbortController();

  /**
   * Made by `Engine.model`.
   *
   * @param maxLength longest input in tokens, where it is to be shorter than what the model can read.
   * @throws GuardValidationError when there is no such model; its files are read later. One of the hub need not be here yet.
   */
  constructor(host: ModelHost, name: string, maxLength?: number) {
    this.name = name;
    this.#host = host;
    this.#maxLength = maxLength;
    this.#files = host.files.resolveIfHere(name);
  }

  /**
   * The folder that says what the model is good for: its thresholds, its curves. Absent where a certain ONNX file was named, for
   * which what the folder says of its own model need not hold, and until a model of the hub is downloaded.
   */
  get folder(): string | undefined {
    const { folder, graph, isItsOwn = false } = this.#files ?? {};
    return graph === undefined || isItsOwn ? folder : undefined;
  }

  /** The folder with the model's `config.json`; absent until a model of the hub is downloaded. */
  get configFolder(): string | undefined {
    return this.#files?.folder;
  }

  /** What the model's folder says of it; nothing until it is loaded. */
  get about(): ModelIdentity {
    return this.#about;
  }

  /** Whether the model is in memory. */
  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** Texts that wait or run now. */
  get pending(): number {
    return this.#loaded?.pending ?? 0;
  }

  /** Downloads the model where it is one of the hub and not here, and loads it. A failure is tried again by the next call. */
  async load(signal?: AbortSignal): Promise<{ heads: ModelHead[]; maxLength: number }> {
    this.#closing.signal.throwIfAborted();
    if (!this.#files) {
      const either = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
      this.#files = await this.#host.files.fetch(this.name, either);
    }
    return this.described({ signal });
  }

  /** What the model is; loads it off the event loop, but downloads nothing. Therefore it can be used while a text waits. */
  async described({ signal }: Abortable = {}): Promise<{ heads: ModelHead[]; maxLength: number }> {
    const model = await awaitUnlessAborted(this.#model(), signal);
    return { heads: model.heads, maxLength: model.maxLength };
  }

  /**
   * Checks that the model says of the texts of its self-test what it should; does nothing while it is not loaded.
   *
   * @throws GuardError `GUARD_MODEL` when it does not; `GUARD_OVERLOADED` when too many texts wait for the model.
   */
  async selfTest(signal?: AbortSignal): Promise<void> {
    if (this.#loaded) await this.#test(this.#loaded, signal);
  }

  /**
   * Scores a text.
   *
   * @returns the answer for each part that the strategy makes of the text. Scanners of one call share it.
   */
  classify(
    text: string,
    { strategy, maxWindows = this.#host.maxWindows, head }: ClassifyOptions,
    context: CallContext = {},
  ): Promise<Classification> {
    const { identity } = this;
    const exitsEarly = head?.hasEarlyExit === true && context.answers?.expectsOnly(identity, head.name) !== false;
    const ask = () =>
      this.#ask((model, abort) => model.classify(text, strategy, maxWindows, abort, exitsEarly), context);
    // A text never has more windows than bytes, so a larger limit makes no difference to the answer.
    const readsAll = text.length * LONGEST_CHARACTER < maxWindows;
    const question = `${strategy} ${readsAll ? "" : maxWindows} ${exitsEarly ? "early " : ""}${identity}`;
    return shareAnswer(context, question, text, ask);
  }

  /**
   * Finds the spans that the model's token heads report for the whole text. They are in order, and spans of the same head do
   * not overlap.
   */
  async findSpans(text: string, context: CallContext = {}): Promise<ModelSpan[]> {
    return (await this.classify(text, { strategy: "windows", maxWindows: ALL_WINDOWS }, context)).spans;
  }

  /**
   * Scores claims, each together with each window of a premise; a long claim is judged in parts. The premise is tokenized once.
   *
   * @returns the parts of each claim, in the order of the claims; none for a claim where it or the premise has no token.
   */
  async judge(premise: string, claims: readonly string[], context: CallContext = {}): Promise<ClaimPart[][]> {
    const ask = (model: NativeModel, abort: Abort) => model.judge(premise, [...claims], abort);
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
    // The signal may have been aborted after the model was found. A signal that is aborted already calls no new listener.
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
    // Self-tests come with the model that they test, and are no work for a caller.
    if (!opened) this.#host.answered(this.name, answer.timings);
    ended?.({ timings: answer.timings });
    return answer;
  }

  /**
   * Lets go of the model: calls and downloads under way end with an error. Its memory is freed unless something else in the
   * process uses the same model.
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

  /** Equal for equal models. */
  get identity(): string {
    return JSON.stringify([this.#files?.folder ?? this.name, this.#files?.graph, this.#maxLength]);
  }

  /**
   * Reads the model into memory without testing it, for those who will load it; they share what is in memory.
   *
   * @returns what lets go of it.
   */
  async readAhead(): Promise<() => void> {
    const model = await this.#read();
    return () => model.close();
  }

  async #read(): Promise<NativeModel> {
    const { files: store, queueCapacity } = this.#host;
    const found = this.#files ? { files: this.#files } : store.look(this.name);
    // The caller who scans a text gets this error. The text is not at fault, so it is not a validation error.
    if (!("files" in found)) throw new GuardError("GUARD_MODEL", store.missingMessage(this.name, found.missing));
    this.#files = found.files;
    const { folder, graph } = found.files;
    const source = {
      folder,
      ...(graph === undefined ? {} : { graph }),
      ...(this.#maxLength === undefined ? {} : { maxLength: this.#maxLength }),
    };
    return native(() => this.#host.native().load(source, queueCapacity));
  }

  async #open(): Promise<NativeModel> {
    const model = await this.#read();
    if (this.folder !== undefined) this.#about = modelIdentity(this.folder);
    const license = this.#files?.license;
    if (license !== undefined) warnOfLicense(this.name, license);
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
      // A model that was set to read less than it can reads such a text in several pieces, of which nothing is known.
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
