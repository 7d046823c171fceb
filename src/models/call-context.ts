import type { EngineTimings, ModelHead } from "../native.ts";
import { awaitUnlessAborted } from "../support/promises.ts";
import type { LongTextStrategy } from "./long-text-strategy.ts";
import type { ModelObserver } from "./model-observer.ts";

/** The signal and the cache that a call passes to its scanners and models. */
export interface CallContext {
  /** Aborts the call: work that has not ended rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** A cache for results that the scanners of the call share. Without it, every result is computed again. */
  readonly answers?: AnswerCache | undefined;
}

/** The options for classifying a text. */
export interface ClassifyOptions {
  /** How the model reads a text that is longer than its input. */
  readonly strategy: LongTextStrategy;
  /** The maximum number of windows that the model reads. Default: `maxWindows` of the engine. The answer counts the skipped characters. */
  readonly maxWindows?: number | undefined;
  /**
   * The only head that the caller reads. If the head has an early exit, harmless texts leave the model early, and the lists of other heads
   * are empty. The result does not depend on the heads that other scanners of the call read.
   */
  readonly head?: ModelHead | undefined;
}

/**
 * Returns the answer that another scanner of the same call got for the same question and text, or computes it.
 *
 * @param question identifies the model and what it computes.
 */
export function shareAnswer<T>(
  { answers, signal }: CallContext,
  question: string,
  text: string,
  compute: () => Promise<T>,
): Promise<T> {
  return answers ? answers.share(question, text, compute, signal) : compute();
}

/** An answer that is known or being computed, and the signal of the caller that asked first. */
interface PendingAnswer {
  readonly answer: Promise<unknown>;
  readonly signal: AbortSignal | undefined;
}

/** The results of one call. The maps are created on demand, because most calls with rules need none. */
interface CallResults {
  /** Answers by question and text. */
  answers?: Map<string, Map<string, PendingAnswer>>;
  timings?: Map<string, EngineTimings>;
}

/**
 * A cache for the results of one call that its scanners share: answers of models, and data derived from a text, such as its views. The same
 * question about the same text is computed once, even if scanners ask concurrently. A cache is never used by another call.
 */
export class AnswerCache {
  #results: CallResults = {};
  #observer: ModelObserver | undefined;

  /** Observes the scanner that this cache was created for; see {@link forScanner}. */
  get observer(): ModelObserver | undefined {
    return this.#observer;
  }

  /** Returns a cache with the same results for one scanner. The observer receives the models that this scanner uses. */
  forScanner(observer: ModelObserver): AnswerCache {
    const same = new AnswerCache();
    same.#results = this.#results;
    same.#observer = observer;
    return same;
  }

  /**
   * Returns the cached answer for a question and a text, or computes it. Failures are not cached.
   *
   * @param question identifies the model and what it computes, or the data derived from the text, such as its views or URLs.
   */
  async share<T>(question: string, text: string, compute: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#results.answers ??= new Map();
    const ofQuestion = this.#results.answers.get(question) ?? new Map<string, PendingAnswer>();
    this.#results.answers.set(question, ofQuestion);
    for (let known = ofQuestion.get(text); known; known = ofQuestion.get(text)) {
      try {
        return (await awaitUnlessAborted(known.answer, signal)) as T;
      } catch (error) {
        signal?.throwIfAborted();
        // If the first caller aborted, its error does not concern the other callers, so they ask again.
        if (!known.signal?.aborted) throw error;
        if (ofQuestion.get(text) === known) ofQuestion.delete(text);
      }
    }
    const answer = compute();
    const pending = { answer, signal };
    ofQuestion.set(text, pending);
    answer.catch(() => {
      if (ofQuestion.get(text) === pending) ofQuestion.delete(text);
    });
    return answer;
  }

  /** Adds the times of an answer to the times of its model. */
  addTimings(model: string, { queued, tokenized, inferred }: EngineTimings): void {
    this.#results.timings ??= new Map();
    const sum = this.#results.timings.get(model) ?? { queued: 0, tokenized: 0, inferred: 0 };
    this.#results.timings.set(model, {
      queued: sum.queued + queued,
      tokenized: sum.tokenized + tokenized,
      inferred: sum.inferred + inferred,
    });
  }

  /**
   * The time that each model took, in milliseconds, summed over all answers of the call so far. An answer that several scanners share
   * counts once. The sum can exceed the elapsed time, because answers can be computed in parallel.
   */
  get timings(): Record<string, EngineTimings> {
    return this.#results.timings ? Object.fromEntries(this.#results.timings) : {};
  }
}
