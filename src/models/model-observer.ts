import type { EngineTimings } from "../native.ts";

/** Follows the questions that one scanner asks models. */
export interface ModelObserver {
  /**
   * Called when the scanner asks a model. When scanners share an answer, only the one that asked first is told; the others wait for
   * the same answer.
   *
   * @returns what is called once when the model has answered or failed.
   */
  modelAsked?(model: string): ((end: ModelEnd) => void) | undefined;
}

/** How a question to a model ended: with an answer or with an error. */
export interface ModelEnd {
  /** How the answer spent its time. The three add up to the time that the model took. */
  timings?: EngineTimings;
  /** The code or the kind of the error. */
  error?: string;
}
