import type { EngineTimings } from "../native.ts";

/** Observes the calls of models by one scanner. */
export interface ModelObserver {
  /**
   * Called when the scanner calls a model. If scanners share an answer, only the observer of the first scanner is called.
   *
   * @returns a function that is called once, when the model has answered or failed.
   */
  modelAsked?(model: string): ((end: ModelEnd) => void) | undefined;
}

/** The end of a model call: an answer or an error. */
export interface ModelEnd {
  /** The time of the answer by phase. The phases add up to the time of the call. */
  timings?: EngineTimings;
  /** The code of the error, or its type. */
  error?: string;
}
