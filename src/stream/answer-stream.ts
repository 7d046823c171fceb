/** What the latest piece of an answer led to. */
export interface StreamStep<Report> {
  /** What may be shown now. It follows what earlier steps returned. It is often empty, because the decision needs more of the answer. */
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
  /** Takes the next piece of the answer. A piece may end anywhere, even within a surrogate pair. */
  push(piece: string): Promise<StreamStep<Report>>;
  /**
   * Releases what may be shown although no new piece has come, when a piece has waited for as long as the options allow. Call it when
   * {@link waiting} says so.
   */
  flush(): Promise<StreamStep<Report>>;
  /** The milliseconds after which {@link flush} would release something; undefined when only more of the answer can. */
  readonly waiting: number | undefined;
  /** Ends the answer. The step has the rest of the text and the report on the whole answer. */
  end(): Promise<StreamStep<Report>>;
}
