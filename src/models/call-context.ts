import type { EngineTimings, ModelHead } from "../native.ts";
import { awaitUnlessAborted } from "../support/promises.ts";
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
   * The only head that the caller reads. If the head has an early exit, texts in which it would surely find nothing leave the model
   * early, and the lists of other heads are empty. What other scanners of the call read makes no difference.
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

/** An answer that is being computed or known, and the signal of the caller that asked first. */
interface PendingAnswer {
  readonly answer: Promise<unknown>;
  readonly signal: AbortSignal | undefined;
}

/** What one call has computed. The maps are created when needed: most calls with rules need none of them. */
interface CallResults {
  /** Answers by question and text. */
  answers?: Map<string, Map<string, PendingAnswer>>;
  timings?: Map<string, EngineTimings>;
}

/**
 * Shares what is computed about the texts of one call among its scanners: answers of models, and what is derived from a text, such as its
 * views. The same question about the same text is computed once, whether scanners ask at the same time or one after the other. A cache
 * lives as long as its call and is never used by another one.
 */
export class AnswerCache {
  #results: CallResults = {};
  #observer: ModelObserver | undefined;

  /** Observes the scanner that this cache was created for; see {@link forScanner}. */
  get observer(): ModelObserver | undefined {
    return this.#observer;
  }

  /** Returns a cache with the same results for one scanner. The observer is told which models are asked through it. */
  forScanner(observer: ModelObserver): AnswerCache {
    const same = new AnswerCache();
    same.#results = this.#results;
    same.#observer = observer;
    return same;
  }

  /**
   * Returns the answer of `ask`, or the answer of an earlier call with the same question and text. Failures are not kept.
   *
   * @param question what is asked, and of which model; or what is derived from the text, such as its views or its URLs.
   */
  async share<T>(question: string, text: string, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#results.answers ??= new Map();
    const ofQuestion = this.#results.answers.get(question) ?? new Map<string, PendingAnswer>();
    this.#results.answers.set(question, ofQuestion);
    for (let known = ofQuestion.get(text); known; known = ofQuestion.get(text)) {
      try {
        return (await awaitUnlessAborted(known.answer, signal)) as T;
      } catch (error) {
        signal?.throwIfAborted();
        // If the first caller gave up, its error is not an answer for the other callers, so they ask again.
        if (!known.signal?.aborted) throw error;
        if (ofQuestion.get(text) === known) ofQuestion.delete(text);
      }
    }
    const answer = ask();
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
   * How each model spent its time, in milliseconds, summed over all answers of the call so far. An answer that several scanners share
   * counts once. The sum can exceed the elapsed time, because answers can be computed in parallel.
   */
  get timings(): Record<string, EngineTimings> {
    return this.#results.timings ? Object.fromEntries(this.#results.timings) : {};
  }
}
