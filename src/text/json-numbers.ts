import type { Span } from "./span.ts";

/** How many characters before and after a number are read. */
const REACH = 400;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The text between a key and its value. The quotation mark is escaped in JSON inside JSON. */
const AFTER_KEY = /(\\?")\s*:\s*$/;
/** The beginning of an array of numbers and strings, and its elements before a number. */
const IN_ARRAY = /(?:^|[[,:])\s*\[(?:\s*(?:-?\d[\d.eE+-]*|"[^"\\]*")\s*,)*\s*$/;
/** The text between two numbers of an array. */
const BETWEEN = /^\s*,(?:\s*(?:-?\d[\d.eE+-]*|"[^"\\]*")\s*,)*\s*$/;
const BEHIND = /^\s*[,}\]]/;
const BEHIND_IN_ARRAY = /^\s*(?:,|\]\s*(?:$|[,}\]]))/;

/**
 * Finds numbers that are values of JSON, in ascending order. Text in place of such a number must be quoted, or the JSON becomes invalid.
 */
export class JsonNumbers {
  readonly #text: string;
  /** The end of the last number in an array. */
  #lastInArray: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns `replacement` in quotation marks if the span is a number of JSON and the replacement is not. */
  quoted(span: Span, replacement: string): string {
    const mark = this.#markOf(span);
    return mark === undefined || NUMBER.test(replacement) ? replacement : mark + replacement + mark;
  }

  /** Returns the quotation mark of strings around a number of JSON, or undefined for anything else. */
  #markOf({ start, end }: Span): string | undefined {
    const text = this.#text;
    const behind = text.slice(end, end + REACH);
    if (!NUMBER.test(text.slice(start, end)) || !BEHIND.test(behind)) return undefined;
    const before = text.slice(Math.max(0, start - REACH), start);
    const [, mark] = AFTER_KEY.exec(before) ?? [];
    if (mark !== undefined) return mark;
    const isNext = this.#lastInArray !== undefined && BETWEEN.test(text.slice(this.#lastInArray, start));
    if (!BEHIND_IN_ARRAY.test(behind) || (!isNext && !IN_ARRAY.test(before))) return undefined;
    this.#lastInArray = end;
    return '"';
  }
}
