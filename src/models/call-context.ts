import { type Abortable, type Classification, type EngineTimings, isPromise, type ModelHead } from "../native.ts";
import { withSignal } from "../support/with-signal.ts";
import type { ModelIdentity } from "./evaluation.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import type { ModelObserver } from "./model-observer.ts";

/** What a call passes to everything that works on its texts. */
export interface CallContext {
  /** Aborts the call: work that has not ended rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Results that the scanners of the call share. Without it, everything is computed anew. */
  readonly answers?: AnswerCache | undefined;
}

/** How a model classifies a text. */
export interface ClassifyOptions {
  /** How the model reads a text that is longer than its input. */
  readonly strategy: LongTextStrategy;
  /** The most windows that the model reads. The default is the engine's `maxWindows`; the answer counts the characters that were skipped. */
  readonly maxWindows?: number | undefined;
  /**
   * The only head that the caller reads. If no other scanner of the call reads another one and the model supports early exits, texts
   * in which this head would surely find nothing leave the model early. The lists of other heads are then empty.
   */
  readonly head?: ModelHead | undefined;
}

/**
 * Returns the answer of `ask`, or the answer that another scanner of the same call has for the same question and text.
 *
 * @param question identifies what is asked and of which model.
 */
export function shareAnswer<T>(
  { answers, signal }: CallContext,
  question: string,
  text: string,
  ask: () => Promise<T>,
): Promise<T> {
  return answers ? answers.share(question, text, ask, signal) : ask();
}

/** An answer that is known or being computed, and the signal of the caller that asked first. */
interface Asked {
  answer: unknown;
  signal: AbortSignal | undefined;
}

/** How a caller asks, unless the answer is there. */
interface Asking<T> {
  ask(): T | Promise<T>;
  signal: AbortSignal | undefined;
}

/** A model that a scanner asks, as far as the other scanners of the call have to know of it. */
export interface AskedModel {
  /** Equal for equal models. */
  readonly identity: string;
  readonly about: ModelIdentity;
  described(abortable?: Abortable): Promise<{ heads: readonly ModelHead[] }>;
  classify(text: string, options: ClassifyOptions, context?: CallContext): Promise<Classification>;
}

/** What a scanner asks texts of: a head of a model. */
export interface HeadAsked {
  readonly model: AskedModel;
  /** The name of the head. */
  readonly head: string;
  /** How it is asked about every text, by scanners whose answer tells other models whether they need be asked; see `screened`. */
  readonly everyText?: {
    readonly strategy: LongTextStrategy;
    /** Returns what the model reads of a text, of the same length. */
    read(text: string): string;
  };
}

/** What one call has computed. The parts are made when they are needed: most calls with rules need none of them. */
interface Computed {
  asked?: Map<string, Map<string, Asked>>;
  timings?: Map<string, EngineTimings>;
}

/**
 * What has been computed about the texts of one call, so that scanners share it: what models have answered, and what was made
 * of a text, such as its views. Scanners that ask the same of the same text share the answer, at the same time or one after the
 * other. It lives as long as the call and is never given to another one.
 */
export class AnswerCache {
  #computed: Computed = {};
  #observer: ModelObserver | undefined;
  #expected: readonly HeadAsked[] = [];

  /** Follows the scanner that this cache was given to; see {@link observedBy}. */
  get observer(): ModelObserver | undefined {
    return this.#observer;
  }

  /** Returns the same cache, for one scanner: the observer is told which models are asked through it. */
  observedBy(observer: ModelObserver): AnswerCache {
    return this.#with(observer, this.#expected);
  }

  /**
   * Returns the same cache, for one text: with what its scanners will ask about it. Several scanners may share one run of a model only if
   * it answers all of them, and a model that is asked little may need less time.
   */
  expecting(asked: readonly HeadAsked[]): AnswerCache {
    return this.#with(this.#observer, asked);
  }

  #with(observer: ModelObserver | undefined, expected: readonly HeadAsked[]): AnswerCache {
    const same = new AnswerCache();
    same.#computed = this.#computed;
    same.#observer = observer;
    same.#expected = expected;
    return same;
  }

  /**
   * Returns the answer of `ask`, or the answer of an earlier call with the same question and text: at once where it was known at once. A
   * failure is not kept.
   *
   * @param question what is asked, and of which model; or what is made of the text, such as its views or its URLs.
   */
  share<T>(question: string, text: string, ask: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  share<T>(question: string, text: string, ask: () => T | Promise<T>, signal?: AbortSignal): T | Promise<T>;
  share<T>(question: string, text: string, ask: () => T | Promise<T>, signal?: AbortSignal): T | Promise<T> {
    this.#computed.asked ??= new Map();
    const ofQuestion = this.#computed.asked.get(question) ?? new Map<string, Asked>();
    this.#computed.asked.set(question, ofQuestion);
    const known = ofQuestion.get(text);
    if (!known) return asked(ofQuestion, text, { ask, signal });
    return isPromise(known.answer) ? answerOf(ofQuestion, text, { ask, signal }) : (known.answer as T);
  }

  /** What the scanners of the text will ask; see {@link expecting}. */
  get expected(): readonly HeadAsked[] {
    return this.#expected;
  }

  /** Whether the scanners of the text ask a model about one head only. It is false where nobody said what they ask. */
  expectsOnly(identity: string, head: string): boolean {
    const ofModel = this.#expected.filter(({ model }) => model.identity === identity);
    return ofModel.length > 0 && ofModel.every((asked) => asked.head === head);
  }

  /** Adds the times of an answer to the times of its model. */
  addTimings(model: string, { queued, tokenized, inferred }: EngineTimings): void {
    this.#computed.timings ??= new Map();
    const sum = this.#computed.timings.get(model) ?? { queued: 0, tokenized: 0, inferred: 0 };
    this.#computed.timings.set(model, {
      queued: sum.queued + queued,
      tokenized: sum.tokenized + tokenized,
      inferred: sum.inferred + inferred,
    });
  }

  /**
   * How each model spent its time, in milliseconds, added up over all answers of the call so far. An answer that several
   * scanners share counts once. The sum can exceed the time that passed, because answers can be computed in parallel.
   */
  get timings(): Record<string, EngineTimings> {
    return this.#computed.timings ? Object.fromEntries(this.#computed.timings) : {};
  }
}

/** Asks, and keeps the answer unless it is a failure. */
function asked<T>(ofQuestion: Map<string, Asked>, text: string, { ask, signal }: Asking<T>): T | Promise<T> {
  const answer = ask();
  const asked = { answer, signal };
  ofQuestion.set(text, asked);
  if (isPromise(answer)) {
    answer.catch(() => {
      if (ofQuestion.get(text) === asked) ofQuestion.delete(text);
    });
  }
  return answer;
}

/** Waits for the answer that others wait for. */
async function answerOf<T>(ofQuestion: Map<string, Asked>, text: string, asking: Asking<T>): Promise<T> {
  const { signal } = asking;
  for (let known = ofQuestion.get(text); known; known = ofQuestion.get(text)) {
    try {
      return (await withSignal(known.answer as Promise<T>, signal)) as T;
    } catch (error) {
      signal?.throwIfAborted();
      // If the first caller gave up, its error is not an answer for the other callers, so they ask again.
      if (!known.signal?.aborted) throw error;
      if (ofQuestion.get(text) === known) ofQuestion.delete(text);
    }
  }
  return asked(ofQuestion, text, asking);
}
