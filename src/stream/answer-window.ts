import type { Abortable } from "../native.ts";
import { isSpacelessScript } from "../text/characters.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { Span } from "../text/span.ts";
import { type CutPoints, cutPointsIn, lastWordEnd, openFence, unfinishedFrom, wholeCharacters } from "./cut-points.ts";
import type { StreamScanners } from "./stream-scanners.ts";

/** The maximum characters that wait for the end of an open span, such as a private key without its last line. */
export const MAX_OPEN_CHARS = 8192;
/** The released characters that are rescanned before the window moves. */
export const WINDOW_CHARS = 1024;

/** The maximum characters of a value that is found again, and of the line before it. */
const MAX_VALUE_CHARS = 120;
/** The maximum number of values that are found again anywhere. */
const MAX_VALUES = 16;
/** The maximum characters by which the window's beginning moves back to the end of a word. */
const WORD_REACH = 48;

/** The part of an answer that scanners read: the waiting text, and some text before it. */
export class AnswerWindow {
  readonly #scanners: StreamScanners;
  readonly #unit: OffsetUnit;
  #text = "";
  #released = 0;
  /** The offset at which the last word begins. */
  #lastWord = 0;
  /** The length of the answer before the window, in the unit of the caller. */
  #before = 0;
  /** The lines of values to find again, and the opening line of the code block in which the window begins. */
  #prefix = "";
  #valueLines: string[] = [];
  #fence: string | undefined;

  constructor(scanners: StreamScanners, unit: OffsetUnit) {
    this.#scanners = scanners;
    this.#unit = unit;
  }

  get text(): string {
    return this.#text;
  }

  /** The offset up to which the text has been released. */
  get released(): number {
    return this.#released;
  }

  /** The length of the waiting text. */
  get waitingChars(): number {
    return this.#text.length - this.#released;
  }

  /** Whether a whole word waits. */
  get hasWaitingWord(): boolean {
    return this.#released < this.#lastWord;
  }

  /** The length of the answer so far, in the unit of the caller. */
  get answerLength(): number {
    return this.#before + lengthIn(this.#unit, this.#text);
  }

  append(piece: string): void {
    for (let at = piece.length - 1; at >= 0; at--) {
      const character = piece.charAt(at);
      if (!/\s/.test(character) && !isSpacelessScript(character)) continue;
      this.#lastWord = this.#text.length + at + 1;
      break;
    }
    this.#text += piece;
  }

  release(end: number): void {
    this.#released = end;
  }

  clear(): void {
    this.#text = "";
  }

  /** Returns the text that scanners read up to an offset of the window. */
  inputUpTo(end: number): string {
    return this.#prefix + this.#text.slice(0, end);
  }

  /** Maps a span of {@link inputUpTo} to the whole answer. Undefined if it begins before an offset of the window. */
  answerSpan({ start, end }: Span, from: number): Span | undefined {
    const first = start - this.#prefix.length;
    if (first < from) return undefined;
    const begin = this.#before + lengthIn(this.#unit, this.#text.slice(0, first));
    return { start: begin, end: begin + lengthIn(this.#unit, this.#text.slice(first, end - this.#prefix.length)) };
  }

  /** Returns the offset up to which text may be released, before any open span. `blocked`: a span is open for too long. */
  limit(): number | "blocked" {
    const text = this.#text;
    let limit = wholeCharacters(text, text.length);
    if (text.length - this.#lastWord <= MAX_OPEN_CHARS) limit = Math.min(limit, this.#lastWord);
    limit = Math.min(limit, unfinishedFrom(text, this.#released));
    const waiting = text.slice(this.#released);
    for (const { openFrom, longSpans } of this.#scanners.openSpans) {
      const from = openFrom?.(waiting);
      if (from === undefined) continue;
      if (waiting.length - from <= MAX_OPEN_CHARS) limit = Math.min(limit, this.#released + from);
      else if (longSpans === "block") return "blocked";
    }
    return limit;
  }

  /**
   * Returns the last cut points up to a limit.
   *
   * @param lines whether ends of lines count as ends of sentences.
   */
  cutPoints(limit: number, lines: boolean, abortable: Abortable): Promise<CutPoints> {
    const from = this.#released;
    const openFrom = (end: number) => {
      const waiting = this.#text.slice(from, end);
      const starts = this.#scanners.openSpans.flatMap((streaming) => streaming.openFrom?.(waiting) ?? []);
      const start = Math.min(...starts);
      return starts.length > 0 && waiting.length - start <= MAX_OPEN_CHARS ? from + start : undefined;
    };
    return cutPointsIn(this.#text, { from, limit, lines, openFrom }, abortable);
  }

  /** Whether the window is so long that it should move. */
  get isTooLong(): boolean {
    return this.#released > WINDOW_CHARS + this.#scanners.before;
  }

  /** Returns the next start of the window: the beginning of a line, or of a word. */
  get nextStart(): number {
    const latest = this.#released - this.#scanners.before;
    const line = this.#text.lastIndexOf("\n", latest - 1) + 1;
    if (line > latest - this.#scanners.before) return line;
    return Math.max(
      lastWordEnd(this.#text, latest - WORD_REACH, latest),
      wholeCharacters(this.#text, latest - WORD_REACH),
    );
  }

  /**
   * Moves the beginning of the window, so that released text is not rescanned forever.
   *
   * @param values the spans of values to find again, in the text that scanners read.
   */
  moveTo(from: number, values: readonly Span[]): void {
    this.#keepValues(from, values);
    this.#fence = openFence(this.#text.slice(0, from), this.#fence);
    const lines = [...this.#valueLines, ...(this.#fence === undefined ? [] : [this.#fence])];
    this.#prefix = lines.map((line) => `${line}\n`).join("");
    this.#before += lengthIn(this.#unit, this.#text.slice(0, from));
    // A slice of a long text retains all of it in memory, so the window is copied.
    this.#text = Buffer.from(this.#text.slice(from), "utf16le").toString("utf16le");
    this.#released -= from;
    this.#lastWord = Math.max(0, this.#lastWord - from);
  }

  /** Keeps the lines of values that leave the window. */
  #keepValues(from: number, values: readonly Span[]): void {
    const input = this.#prefix + this.#text;
    for (const { start, end } of values) {
      const isLeftBehind = start >= this.#prefix.length && start < this.#prefix.length + from;
      if (!isLeftBehind || end - start > MAX_VALUE_CHARS) continue;
      const line = input
        .slice(Math.max(input.lastIndexOf("\n", start) + 1, start - MAX_VALUE_CHARS), end + 1)
        .trimEnd();
      if (!this.#valueLines.includes(line)) this.#valueLines.push(line);
    }
    this.#valueLines = this.#valueLines.slice(-MAX_VALUES);
  }
}
