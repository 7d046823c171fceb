import type { Readable } from "node:stream";
import { Problem } from "../../http-server/problem.ts";
import { GuardError } from "../../support/errors.ts";
import { readJson } from "../http/read-json.ts";

/** What limits a body of lines. */
export interface LineLimits {
  /** The most bytes of a line. */
  lineBytes: number;
  /** The most bytes of all lines together. */
  totalBytes: number;
  /** The most milliseconds until the next line. */
  idle: number;
}

const NEWLINE = 0x0a;

/** Space, tab and carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

/**
 * Reads a body of JSON texts with line breaks between them (`application/x-ndjson`) while it arrives. It reads no more than it is
 * asked for: while nobody asks, the client has to wait.
 */
export class JsonLines {
  readonly #body: Readable;
  readonly #limits: LineLimits;
  /** Whole lines that nobody has asked for yet. They came with one piece of the body, or are fewer. */
  readonly #lines: Buffer[] = [];
  /** The beginning of a line. */
  #open: Buffer[] = [];
  #openBytes = 0;
  #bytes = 0;
  #end: "open" | "ended" | Error = "open";
  #wake: () => void = () => {};

  constructor(body: Readable, limits: LineLimits) {
    this.#body = body;
    this.#limits = limits;
    body.on("data", this.#onData).once("end", this.#onEnd).once("close", this.#onClose).once("error", this.#onClose);
    body.pause();
  }

  /**
   * Returns the next line that is not empty, parsed; undefined at the end of the body.
   *
   * @throws Problem for a line that is too long, not UTF-8 or not JSON, and when none comes in time; GuardError `GUARD_ABORTED` when
   *   the connection ends.
   */
  async next(): Promise<{ value: unknown } | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line) {
        const value = parsed(line);
        if (value) return value;
        continue;
      }
      if (this.#end === "ended") return undefined;
      if (this.#end !== "open") throw this.#end;
      await this.#more();
    }
  }

  /** Stops reading. What still comes of the body is dropped, and who waits for a line is told. */
  close(): void {
    if (this.#end === "open") this.#fail(new GuardError("GUARD_CLOSED", "The lines are read no further."));
    this.#body.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    this.#body.resume();
  }

  #more(): Promise<void> {
    const { idle } = this.#limits;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#fail(new Problem(408, `No line came for ${idle / 1000} s.`)), idle);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        this.#body.pause();
        resolve();
      };
      this.#body.resume();
    });
  }

  readonly #onData = (piece: Buffer) => {
    if (this.#end !== "open") return;
    const { lineBytes, totalBytes } = this.#limits;
    for (let start = 0; start < piece.length; ) {
      const found = piece.indexOf(NEWLINE, start);
      const end = found < 0 ? piece.length : found;
      this.#openBytes += end - start;
      this.#bytes += end + 1 - start;
      if (this.#bytes > totalBytes)
        return this.#fail(new Problem(413, `A stream may have ${totalBytes} bytes at most.`));
      if (this.#openBytes > lineBytes)
        return this.#fail(new Problem(413, `A line may have ${lineBytes} bytes at most.`));
      this.#open.push(piece.subarray(start, end));
      if (found >= 0) this.#closeLine();
      start = end + 1;
    }
    if (this.#lines.length > 0) this.#wake();
  };

  readonly #onEnd = () => {
    if (this.#end !== "open") return;
    this.#closeLine();
    this.#end = "ended";
    this.#wake();
  };

  readonly #onClose = () => {
    if (this.#end === "open") this.#fail(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  };

  #closeLine(): void {
    this.#lines.push(this.#open.length === 1 ? (this.#open[0] as Buffer) : Buffer.concat(this.#open));
    this.#open = [];
    this.#openBytes = 0;
  }

  /** The lines that came before are still handed out. */
  #fail(error: Error): void {
    this.#end = error;
    this.#open = [];
    this.#wake();
  }
}

function parsed(line: Buffer): { value: unknown } | undefined {
  if (line.every((byte) => BLANKS.has(byte))) return undefined;
  return { value: readJson(line, "A line") };
}
