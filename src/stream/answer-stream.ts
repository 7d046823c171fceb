/** What the latest piece of an answer led to. */
export interface StreamStep<Report> {
  /** What may be shown now. It follows what earlier steps returned. It is often empty, because the decision needs more of the answer. */
  text: string;
  /**
   * It is there when the answer has ended: with {@link AnswerStream.end}, or before that when a check failed. With the outcome
   * `blocked` nothing more may be shown, and nothing more may be pushed.
   */
  report?: Report;
}

/**
 * An answer that arrives in pieces. Its methods are called one after the other: each call waits for the one before it. When nobody needs
 * the rest, the signal of the call ends the work.
 */
export interface AnswerStream<Report> {
  /** Takes the next piece of the answer. A piece may end anywhere, also within a character that UTF-16 writes as two code units. */
  push(piece: string): Promise<StreamStep<Report>>;
  /**
   * Releases what may be shown although no new piece has come, when a piece has waited for as long as the options allow. Call it when
   * {@link waiting} says so.
   */
  flush(): Promise<StreamStep<Report>>;
  /** The milliseconds after which {@link flush} would release something; undefined when only more of the answer can. */
  readonly waiting: number | undefined;
  /** Ends the answer. The step has the rest of the text, and the report on all of it. */
  end(): Promise<StreamStep<Report>>;
}
