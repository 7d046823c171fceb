import { checkSides } from "../conversation/scanner-sides.ts";
import { conversationContext } from "../conversation/single-text.ts";
import { checkSuppressed } from "../conversation/suppressed.ts";
import { type NamedScanner, nameScanners, suppressedNames } from "../scan/named-scanners.ts";
import { checkMasking, monitoredOutcome, outcomeOf } from "../scan/outcome.ts";
import { checkStreamOptions, type ScanOptions } from "../scan/scan-options.ts";
import type { Scanner } from "../scan/scanner.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { type ItemReader, isItemSource, openItems, toReadableStream } from "../support/items.ts";
import { callSignal } from "../support/lazy-abort-controller.ts";
import { answerSteps } from "./answer-steps.ts";
import type { AnswerStream } from "./answer-stream.ts";
import { createAnswerScan } from "./monitored-answer-scan.ts";
import type { StreamOptions, StreamReport } from "./stream-options.ts";

export type { StreamOptions, StreamReport } from "./stream-options.ts";

/** The options of {@link scanOutputStream}. */
export interface StreamScanOptions extends ScanOptions, StreamOptions {
  /**
   * The names or types of scanners whose findings do not end the stream, because the scanners remove them. Scanners that insert
   * placeholders of a vault are always included. By default there are no others.
   */
  masking?: readonly string[];
}

/** An answer that is scanned on its way. It can be read once: by iteration, or as a web stream. */
export interface ScannedStream extends AsyncIterable<string> {
  /**
   * The report on the whole answer. It resolves when the texts have been read to their end. After the outcome `blocked` the rest of the
   * answer is never released. It rejects if the scan or the source failed, and with `GUARD_ABORTED` if the reader stopped early.
   */
  readonly report: Promise<StreamReport>;
  /** Returns the texts as a web stream. Cancelling it ends the scan and the source. */
  toReadableStream(): ReadableStream<string>;
}

/**
 * Scans a model's output while it arrives, and releases decided text: up to the ends of sentences, of lines, or of words. A span that a
 * scanner may still rewrite, such as half a secret, is held until it is complete. If a check fails, no more text is released, and none of
 * the failing sentence or span has been. The final verdict is that of {@link scanOutput}.
 *
 * The source is read on demand only.
 *
 * @param source the pieces of the output. They may end anywhere, also within a surrogate pair.
 * @throws GuardValidationError for arguments of the wrong type, and for unknown names in `suppress` and `masking`.
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
  checkSides(named, "output");
  checkSuppressed(suppressedNames(options.suppress), named);
  checkMasking(new Set(options.masking), { named, path: "masking" });
  if (typeof prompt !== "string") {
    throw new GuardValidationError([{ path: "prompt", message: `expected a string, got ${typeof prompt}` }]);
  }
  if (!isItemSource(source)) {
    const message = "expected an async iterable or a web stream of strings";
    throw new GuardValidationError([{ path: "source", message }]);
  }
  const { signal, end } = callSignal(options.signal);
  return new ScannedOutput(openItems(source), answerScan(named, prompt, options, signal), signal, end);
}

/** Creates the scan of one answer. */
function answerScan(
  named: readonly NamedScanner[],
  prompt: string,
  options: StreamScanOptions,
  signal: AbortSignal,
): AnswerStream<StreamReport> {
  const { holdbackChars, holdbackMs, wholeChars, masking: names = [], source = "assistant", ...run } = options;
  const { failFast = false, conversation } = run;
  const masking = new Set(names);
  return createAnswerScan({
    ...{ holdbackChars, holdbackMs, wholeChars, named },
    context: { prompt, source, ...conversationContext(conversation) },
    options: Object.assign({}, run, { suppress: suppressedNames(run.suppress), signal }),
    decide: (report) => ({
      isValid: report.isValid,
      // With failFast the checks after the failing one have not read the text.
      outcome: failFast && !report.isValid ? "blocked" : outcomeOf(report, { scanners: named, masking }),
      ...monitoredOutcome(report.checks, { scanners: named, masking }),
    }),
  });
}

/** The texts of an answer as the scan releases them. */
class ScannedOutput implements ScannedStream {
  readonly report: Promise<StreamReport>;
  readonly #texts: AsyncGenerator<string, void, undefined>;
  readonly #endCall: () => void;
  #resolve: (report: StreamReport) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(pieces: ItemReader<unknown>, scan: AnswerStream<StreamReport>, signal: AbortSignal, endCall: () => void) {
    this.report = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A program that reads only the texts receives errors from them.
    this.report.catch(() => {});
    this.#endCall = endCall;
    this.#texts = this.#read(pieces, scan, signal);
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return {
      next: () => this.#texts.next(),
      return: async () => {
        await this.#giveUp();
        return { done: true, value: undefined };
      },
    };
  }

  toReadableStream(): ReadableStream<string> {
    return toReadableStream(this.#texts, () => this.#giveUp());
  }

  async *#read(
    pieces: ItemReader<unknown>,
    scan: AnswerStream<StreamReport>,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    try {
      for await (const { text, report } of answerSteps(scan, pieces, { textOf: checkPiece, signal })) {
        if (report) this.#resolve(report);
        if (text !== "") yield text;
      }
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      this.#reject(abortedError());
      this.#endCall();
    }
  }

  async #giveUp(): Promise<void> {
    this.#reject(abortedError());
    this.#endCall();
    await this.#texts.return(undefined).catch(() => {});
  }
}

function abortedError(): GuardError {
  return new GuardError("GUARD_ABORTED", "The reader of the stream stopped before its end.");
}

function checkPiece(piece: unknown): string {
  if (typeof piece === "string") return piece;
  throw new GuardValidationError([{ path: "source", message: `expected pieces of text, got ${typeof piece}` }]);
}
