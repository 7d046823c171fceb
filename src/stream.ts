import { GuardError, GuardValidationError } from "./errors.ts";
import { outcomeOf } from "./outcome.ts";
import { conversationContext, nameScanners, ownSignal, type ScanOptions, type ScanReport } from "./scan.ts";
import type { Scanner } from "./scanner.ts";
import { AnswerScan, type StreamOptions, type StreamReport } from "./stream/answer-scan.ts";
import { withSignal } from "./support/with-signal.ts";
import { checkStreamOptions } from "./validation/scan-options.ts";

export type { StreamOptions, StreamReport } from "./stream/answer-scan.ts";

/** What came of the latest piece of an answer that arrives in pieces; `report` is there when the answer has ended. */
export interface OutputStreamStep<Report extends ScanReport = ScanReport> {
  text: string;
  report?: Report;
}

/** An answer that arrives in pieces and is scanned on the way. */
export interface OutputStream<Report extends ScanReport = ScanReport> {
  push(piece: string): Promise<OutputStreamStep<Report>>;
  flush(): Promise<OutputStreamStep<Report>>;
  readonly waiting: number | undefined;
  end(): Promise<OutputStreamStep<Report>>;
}

/** The options of {@link scanOutputStream}. */
export interface StreamScanOptions extends ScanOptions, StreamOptions {
  /**
   * The scanners, by name or type, whose findings do not end the stream, because they take them out of the text. Scanners that put
   * placeholders of a vault into a text are always among them. By default there are no others.
   */
  masking?: readonly string[];
}

/** An answer that was scanned on its way. It can be read once: by iterating over it, or as a web stream. */
export interface ScannedStream extends AsyncIterable<string> {
  /**
   * The report on the whole answer. It is there when the texts have been read to their end, and says with `outcome` whether they are
   * all of the answer: after `blocked` the rest is never given out. It rejects when the scan failed, when the source did, and with
   * `GUARD_ABORTED` when the reader stopped early.
   */
  readonly report: Promise<StreamReport>;
  /** Returns the texts as a web stream. Cancelling it ends the scan and the source. */
  toReadableStream(): ReadableStream<string>;
}

/**
 * Scans a model's output while it arrives, and gives out what has been decided: up to the ends of sentences, of lines, or of words. A
 * span that a scanner may still rewrite, such as half a secret, is held back until it is whole. When a check fails, nothing more is given
 * out, and nothing of the sentence or span that failed has been. At the end the verdict is that of {@link scanOutput}.
 *
 * Nothing is read from the source before the texts are read, nor faster than they are.
 *
 * @param source the pieces of the output. They may end anywhere, also between the two code units of one character.
 * @throws GuardValidationError for arguments of the wrong type.
 * @example
 * const scanned = scanOutputStream([new output.Secrets()], prompt, pieces, { masking: ["Secrets"] });
 * for await (const text of scanned) process.stdout.write(text);
 * const { outcome } = await scanned.report;
 */
export function scanOutputStream(
  scanners: readonly Scanner[],
  prompt: string,
  source: AsyncIterable<string> | Iterable<string> | ReadableStream<string>,
  options: StreamScanOptions = {},
): ScannedStream {
  checkStreamOptions(options);
  const named = nameScanners(scanners);
  if (typeof prompt !== "string") {
    throw new GuardValidationError([{ path: "prompt", message: `expected a string, got ${typeof prompt}` }]);
  }
  const pieces = iteratorOf(source);
  const { holdbackChars, holdbackMs, wholeChars, masking: names = [], signal: outer, ...given } = options;
  const masking = new Set(names);
  const { failFast = false } = options;
  const { signal, stop } = ownSignal(outer);
  const { source: kind = "assistant", conversation: _, ...run } = given;
  const scan = new AnswerScan({
    ...{ holdbackChars, holdbackMs, wholeChars, named, masking },
    context: { prompt, source: kind, ...conversationContext(options) },
    options: { ...run, signal },
    decide: (report) => ({
      isValid: report.isValid,
      // The checks behind the one that failed have not looked at the text.
      outcome: failFast && !report.isValid ? "blocked" : outcomeOf(report, named, masking),
    }),
  });

  let resolve!: (report: StreamReport) => void;
  let reject!: (error: unknown) => void;
  const report = new Promise<StreamReport>((...settle) => {
    [resolve, reject] = settle;
  });
  // Who reads the texts only is told by them of errors.
  report.catch(() => {});
  const texts = read();
  const aborted = new GuardError("GUARD_ABORTED", "The reader of the stream stopped before its end.");
  const giveUp = async () => {
    reject(aborted);
    stop();
    await texts.return(undefined).catch(() => {});
  };
  return {
    report,
    [Symbol.asyncIterator]: () => ({
      next: () => texts.next(),
      return: async () => {
        await giveUp();
        return { done: true, value: undefined };
      },
    }),
    toReadableStream: () =>
      new ReadableStream<string>(
        {
          async pull(controller) {
            const { done, value } = await texts.next();
            if (done) controller.close();
            else controller.enqueue(value);
          },
          cancel: giveUp,
        },
        // Nothing is read ahead.
        { highWaterMark: 0 },
      ),
  };

  async function* read(): AsyncGenerator<string, void, undefined> {
    let next: Promise<IteratorResult<string>> | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        next ??= Promise.resolve(pieces.next());
        const piece = await within(next, scan.waiting, signal);
        if (piece) next = undefined;
        const step = !piece ? await scan.flush() : piece.done ? await scan.end() : await scan.push(asText(piece.value));
        if (step.report) resolve(step.report);
        if (step.text !== "") yield step.text;
        if (step.report) return;
      }
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      reject(aborted);
      stop();
      // A source that waits for its next piece ends when that has come, and nobody waits for this.
      next?.catch(() => {});
      Promise.resolve(pieces.return?.()).catch(() => {});
    }
  }
}

/** Waits for a promise, and returns undefined when that takes longer than so many milliseconds. */
async function within<T>(promise: Promise<T>, milliseconds: number | undefined, signal: AbortSignal) {
  if (milliseconds === undefined) return withSignal(promise, signal);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await withSignal(Promise.race([promise, late]), signal);
  } finally {
    clearTimeout(timer);
  }
}

function asText(piece: unknown): string {
  if (typeof piece === "string") return piece;
  throw new GuardValidationError([{ path: "source", message: `expected pieces of text, got ${typeof piece}` }]);
}

type Pieces = Pick<AsyncIterator<string> | Iterator<string>, "next" | "return">;

/** @throws GuardValidationError for what cannot be read piece by piece. */
function iteratorOf(source: AsyncIterable<string> | Iterable<string> | ReadableStream<string>): Pieces {
  if (typeof source === "object" && source !== null) {
    if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
    if (Symbol.iterator in source) return source[Symbol.iterator]();
    // Some browsers and polyfills have web streams that cannot be iterated over.
    const reader = (source as ReadableStream<string>).getReader?.();
    if (reader) {
      return {
        next: async () => (await reader.read()) as IteratorResult<string>,
        return: async () => {
          await reader.cancel();
          return { done: true, value: undefined };
        },
      };
    }
  }
  const message = "expected an async iterable or a web stream of strings";
  throw new GuardValidationError([{ path: "source", message }]);
}
