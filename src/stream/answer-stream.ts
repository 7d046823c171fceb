/** The result of a piece of an answer. */
export interface StreamStep<Report> {
  /** The released text, which follows that of earlier steps. It is often empty, because a decision needs more of the answer. */
  text: string;
  /**
   * The report, once the answer has ended: after {@link AnswerStream.end}, or earlier if a check failed. With the outcome `blocked`, no
   * more text may be shown or pushed.
   */
  report?: Report;
}

/**
 * A streamed answer. Call its methods sequentially: await each call before the next. If the rest of the answer is not needed, abort the
 * signal of the call.
 */
export interface AnswerStream<Report> {
  /** Accepts the next piece of the answer. A piece may end anywhere, even within a surrogate pair. */
  push(piece: string): Promise<StreamStep<Report>>;
  /**
   * Releases text without a new piece, after a piece has waited for as long as the options allow. Call it after {@link waiting}
   * milliseconds.
   */
  flush(): Promise<StreamStep<Report>>;
  /** The milliseconds until {@link flush} would release text. Undefined if only more of the answer can. */
  readonly waiting: number | undefined;
  /** Ends the answer. The step has the rest of the text and the report on the whole answer. */
  end(): Promise<StreamStep<Report>>;
}
