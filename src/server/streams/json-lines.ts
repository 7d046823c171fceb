import type { Readable } from "node:stream";
import type { BudgetShare } from "../../http-server/byte-budget.ts";
import { Problem } from "../../http-server/problem.ts";
import { GuardError } from "../../support/errors.ts";
import { readJson } from "../http/read-json.ts";

/** Limits of a body of lines. */
export interface LineLimits {
  lineBytes: number;
  totalBytes: number;
  /** Timeout of the next line. */
  idleMs: number;
}

const NEWLINE = 0x0a;

/** Space, tab and carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

/** Reads a body of JSON lines (`application/x-ndjson`) while it arrives, with backpressure: it reads only while a line is requested. */
export class JsonLines {
  readonly #body: Readable;
  readonly #limits: LineLimits;
  readonly #openBody: BudgetShare | undefined;
  /** Complete lines of the last chunk. */
  readonly #lines: Buffer[] = [];
  /** The start of an incomplete line. */
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #bytes = 0;
  #end: "open" | "ended" | Error = "open";
  #wake: () => void = () => {};

  /** @param openBody counts the bytes in the budget of the server. */
  constructor(body: Readable, limits: LineLimits, openBody?: BudgetShare) {
    this.#body = body;
    this.#limits = limits;
    this.#openBody = openBody;
    body.on("data", this.#onData).once("end", this.#onEnd).once("close", this.#onClose).once("error", this.#onClose);
    body.pause();
  }

  /**
   * Returns the value of the next line that is not empty; undefined at the end of the body.
   *
   * @throws Problem for a line that is too long or not valid JSON in UTF-8, and after the timeout; GuardError `GUARD_ABORTED` if the
   *   connection ends.
   */
  async next(): Promise<{ value: unknown } | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line) {
        const value = parseLine(line);
        if (value) return value;
        continue;
      }
      if (this.#end === "ended") return undefined;
      if (this.#end !== "open") throw this.#end;
      await this.#read();
    }
  }

  /** Stops reading, discards the rest of the body, and fails a pending {@link next}. */
  close(): void {
    if (this.#end === "open") this.#fail(new GuardError("GUARD_CLOSED", "Reading has stopped."));
    this.#body.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    this.#body.resume();
  }

  #read(): Promise<void> {
    const { idleMs } = this.#limits;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#fail(new Problem(408, `No line arrived for ${idleMs / 1000} s.`)), idleMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        this.#body.pause();
        resolve();
      };
      this.#body.resume();
    });
  }

  readonly #onData = (chunk: Buffer) => {
    if (this.#end !== "open") return;
    const { lineBytes, totalBytes } = this.#limits;
    try {
      this.#openBody?.add(chunk.length);
    } catch (error) {
      return this.#fail(error as Error);
    }
    for (let start = 0; start < chunk.length; ) {
      const found = chunk.indexOf(NEWLINE, start);
      const end = found < 0 ? chunk.length : found;
      this.#partialBytes += end - start;
      this.#bytes += end + 1 - start;
      if (this.#bytes > totalBytes)
        return this.#fail(new Problem(413, `A stream may have at most ${totalBytes} bytes (app.max_stream_size).`));
      if (this.#partialBytes > lineBytes)
        return this.#fail(new Problem(413, `A line may have at most ${lineBytes} bytes (app.max_body_size).`));
      this.#partial.push(chunk.subarray(start, end));
      if (found >= 0) this.#endLine();
      start = end + 1;
    }
    if (this.#lines.length > 0) this.#wake();
  };

  readonly #onEnd = () => {
    if (this.#end !== "open") return;
    this.#endLine();
    this.#end = "ended";
    this.#wake();
  };

  readonly #onClose = () => {
    if (this.#end === "open") this.#fail(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  };

  #endLine(): void {
    this.#lines.push(this.#partial.length === 1 ? (this.#partial[0] as Buffer) : Buffer.concat(this.#partial));
    this.#partial = [];
    this.#partialBytes = 0;
  }

  /** Complete lines are still returned before the error. */
  #fail(error: Error): void {
    this.#end = error;
    this.#partial = [];
    this.#wake();
  }
}

function parseLine(line: Buffer): { value: unknown } | undefined {
  if (line.every((byte) => BLANKS.has(byte))) return undefined;
  return { value: readJson(line, "A line") };
}
