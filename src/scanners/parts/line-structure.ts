import { firstIndexWhere } from "../../support/binary-search.ts";
import type { Span } from "../../text/span.ts";

/** A short label at the start of a line, and its colon: `Owner:`, `Date of birth =`. */
const LABEL = /^[\s>*•·-]*[\p{L}\p{N}][^\n:=：]{0,40}[:=：]/u;
/** The start of an item of a list. */
const ITEM = /^\s*(?:[-*+•·>|#]|\d{1,3}[.)]|\p{L}[.)])\s/u;
/** The end of a sentence or clause, which a model recognizes without a sign. */
const CLAUSE_END = /[.,;:!?…|。、，；：！？؟،।]\s*$/u;
/** The signs that separate the cells of a row. */
const CELLS = /[\t|;]|,\S[^,\n]*,\S|\S {3,}\S/;
/** A word of running text: one that begins in lower case. */
const PROSE_WORD = /(?:^|[\s(])\p{Ll}{2}/u;
/** Letters of a script with capitals. */
const CASED = /[\p{Lu}\p{Ll}]/u;
/** The minimum length of a line of running text in a script without capitals. */
const MIN_PROSE = 16;
/** How many characters of a line are read. */
const MAX_LINE = 400;
/** A gap between two cells of a row. */
const GAP = /(?<=\S)(?:\t| {3})(?=\s*\S)/g;
/**
 * The signs that a model reads as the ends of a cell, a line and a line of a form. Of twenty combinations tried on 77 forms, lists and tables
 * in 14 languages, the embedded model ner 0.3.0 reads these best: it finds 90 of 98 names, and 14 others. Without signs it finds 58 of the
 * 80 names in the first 60 of them, and 21 others.
 */
const SEPARATORS = { cell: ";", line: "|", field: " ;" };

/** A text as a model should read it. */
export class StructuredText {
  /** The text with signs for the ends of lines and cells. */
  readonly marked: string;
  readonly #text: string;
  /** The offsets of ends of lines and cells that end a name, in the given text. */
  readonly #ends: readonly number[];
  /** The offsets of the characters that were added, in the marked text. */
  readonly #added: readonly number[];

  /**
   * Marks the ends of lines and cells for a model. Tokenizers turn line ends and tabs into spaces, so a model would join the last word of a
   * line and the first word of the next one to a name. A line end within running text stays, because a name may continue in the next line.
   */
  constructor(text: string) {
    const cells = [...text.matchAll(GAP)].map(({ index }) => ({ at: index, sign: SEPARATORS.cell }));
    const ends = [...lineEnds(text), ...cells].sort((one, other) => one.at - other.at);
    const added: number[] = [];
    let marked = "";
    let from = 0;
    for (const { at, sign } of ends) {
      marked += text.slice(from, at) + sign;
      if (sign.length > 1) added.push(marked.length - 1);
      from = at + 1;
    }
    this.#text = text;
    this.marked = marked + text.slice(from);
    this.#ends = ends.map(({ at }) => at);
    this.#added = added;
  }

  /**
   * Turns a span of the marked text into spans of the given text, and cuts it at the ends of lines and cells. Parts without a letter are
   * left out.
   */
  restore<Found extends Span>(span: Found): Found[] {
    const [start, end] = [this.#offset(span.start), this.#offset(span.end)];
    const inside: number[] = [];
    for (let index = countBelow(this.#ends, start); (this.#ends[index] ?? end) < end; index++) {
      inside.push(this.#ends[index] as number);
    }
    if (inside.length === 0) return [{ ...span, start, end }];
    return [start, ...inside.map((at) => at + 1)].flatMap((from, index) => {
      const part = this.#text.slice(from, inside[index] ?? end);
      const first = from + part.length - part.trimStart().length;
      return /\p{L}/u.test(part) ? [{ ...span, start: first, end: first + part.trim().length }] : [];
    });
  }

  #offset(marked: number): number {
    return marked - countBelow(this.#added, marked);
  }
}

/** The line ends that end a name, each with its sign. */
function lineEnds(text: string): { at: number; sign: string }[] {
  const ends: { at: number; sign: string }[] = [];
  let start = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", start)) {
    const line = text.slice(Math.max(start, at - MAX_LINE), at).trimEnd();
    const next = text.slice(at + 1, at + 1 + MAX_LINE).split("\n", 1)[0] as string;
    if (line !== "" && !CLAUSE_END.test(line) && !isWrapped(line, next)) {
      ends.push({ at, sign: LABEL.test(line) || LABEL.test(next) ? SEPARATORS.field : SEPARATORS.line });
    }
    start = at + 1;
  }
  return ends;
}

/** Tells whether a sentence goes on from one line to the next. */
function isWrapped(line: string, next: string): boolean {
  if (next.trim() === "" || ITEM.test(next) || ITEM.test(line)) return false;
  if (LABEL.test(line) || LABEL.test(next) || CELLS.test(line)) return false;
  if (!CASED.test(line)) return line.length >= MIN_PROSE;
  return PROSE_WORD.test(line) && PROSE_WORD.test(next);
}

/** Returns how many of the ascending numbers are less than `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  return firstIndexWhere(ascending, (number) => number >= limit);
}
