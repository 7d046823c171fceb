import type { EngineTimings } from "../native.ts";
import { withSignal } from "../support/with-signal.ts";

/** An answer that is there or on its way, and the signal of whoever asked first. */
interface Asked {
  answer: Promise<unknown>;
  signal: AbortSignal | undefined;
}

/**
 * What has been computed about the texts of one call, so that scanners share it: what models have answered, and what was made
 * of a text, such as its views. Scanners that ask the same of the same text share the answer, at the same time or one after the
 * other. It lives as long as the call and is never given to another one.
 */
export class AnswerCache {
  // Made when they are needed: most calls with rules need none of them, and a call takes microseconds.
  #derived: Map<string, Map<string, unknown>> | undefined;
  #asked: Map<string, Map<string, Asked>> | undefined;
  #timings: Map<string, EngineTimings> | undefined;

  /**
   * What `make` makes of a text, or made of it before: its views, its URLs, its languages.
   *
   * @param kind what is made.
   */
  derive<T>(kind: string, text: string, make: (text: string) => T): T {
    this.#derived ??= new Map();
    const ofKind = this.#derived.get(kind) ?? new Map<string, unknown>();
    this.#derived.set(kind, ofKind);
    if (!ofKind.has(text)) ofKind.set(text, make(text));
    return ofKind.get(text) as T;
  }

  /**
   * The answer of `ask`, or of an earlier one with the same question and text. A failure is not kept.
   *
   * @param question what is asked, and of which model.
   */
  async share<T>(question: string, text: string, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#asked ??= new Map();
    const ofQuestion = this.#asked.get(question) ?? new Map<string, Asked>();
    this.#asked.set(question, ofQuestion);
    for (let known = ofQuestion.get(text); known; known = ofQuestion.get(text)) {
      try {
        return (await withSignal(known.answer, signal)) as T;
      } catch (error) {
        signal?.throwIfAborted();
        // Whoever asked first may have given up: that is no answer for the others.
        if (!known.signal?.aborted) throw error;
        if (ofQuestion.get(text) === known) ofQuestion.delete(text);
      }
    }
    const asked = { answer: ask(), signal };
    ofQuestion.set(text, asked);
    asked.answer.catch(() => {
      if (ofQuestion.get(text) === asked) ofQuestion.delete(text);
    });
    return asked.answer;
  }

  /** Adds the times of an answer to those of its model. */
  addTimings(model: string, { queued, tokenized, inferred }: EngineTimings): void {
    this.#timings ??= new Map();
    const sum = this.#timings.get(model) ?? { queued: 0, tokenized: 0, inferred: 0 };
    this.#timings.set(model, {
      queued: sum.queued + queued,
      tokenized: sum.tokenized + tokenized,
      inferred: sum.inferred + inferred,
    });
  }

  /**
   * Where the time of each model went, in milliseconds, added up over all answers of the call until now; an answer that several
   * scanners share counts once. Answers that were computed side by side make it more than the time that passed.
   */
  get timings(): Record<string, EngineTimings> {
    return this.#timings ? Object.fromEntries(this.#timings) : {};
  }
}
