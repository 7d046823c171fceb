import type { Abortable } from "../native.ts";
import { splitSentences } from "./sentences.ts";
import type { Span } from "./span.ts";

/** A line of a text, without its line break and the white space around it. */
interface Line extends Span {
  /** The length of the longest line of its block, which is the lines between two blank ones. */
  widest: number;
}

/** A line break of the Unicode newline guidelines (The Unicode Standard, section 5.8). */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Prose is not wrapped into narrower columns than this, in UTF-16 code units. Chinese and Japanese need half of what Latin needs. */
const NARROWEST = 16;

/** How much of a line is looked at to tell what it begins with. It bounds the time that the patterns below take. */
const BEGINNING = 32;

/** The beginning of a line that stands for itself: a row, a list item, markup, a time stamp, or a field such as `Subject: x`. */
const STANDS_ALONE = /^(?:[|[<{>#*+]|[-–•] |\S{0,12}\d[-:/.]\d|[\p{L}\p{N}_-]{1,20}:\s)/u;

/**
 * Splits a text into statements: the smallest parts that somebody would cross out as a whole. In prose they are sentences. Where
 * lines are not the wrapping of a paragraph, as in tables, lists, logs and mail headers, each line is a statement of its own.
 *
 * @returns spans in ascending order that do not overlap, have no white space around them, and together hold everything else.
 */
export async function splitStatements(text: string, abortable?: Abortable): Promise<Span[]> {
  const sentences = await splitSentences(text, abortable);
  const lines = linesOf(text);
  const statements: Span[] = [];
  let first = 0;
  for (const sentence of sentences) {
    while (lines[first] && (lines[first] as Line).end <= sentence.start) first++;
    let open: Span | undefined;
    const known = statements.length;
    for (let index = first; index < lines.length; index++) {
      const line = lines[index] as Line;
      if (line.start >= sentence.end) break;
      const end = Math.min(line.end, sentence.end);
      if (open && isWrapped(text, lines[index - 1] as Line, line)) {
        open.end = end;
      } else {
        open = { start: Math.max(line.start, sentence.start), end };
        statements.push(open);
      }
    }
    // Rust and JavaScript differ in what white space is: U+FEFF by itself is a sentence, but no line.
    if (statements.length === known) statements.push({ start: sentence.start, end: sentence.end });
  }
  return statements;
}

/**
 * Tells whether the break between two lines is only the wrapping of a paragraph. An editor breaks a line where the next word would
 * not fit any more (the greedy rule of line breaking), so a line that had room for that word was ended on purpose.
 */
function isWrapped(text: string, before: Line, line: Line): boolean {
  if (line.widest < NARROWEST) return false;
  const beginning = text.slice(line.start, Math.min(line.end, line.start + BEGINNING));
  if (STANDS_ALONE.test(beginning) || text.slice(before.start, before.end).includes("\t")) return false;
  const [word = ""] = /^\S*/.exec(text.slice(line.start, Math.min(line.end, line.start + line.widest + 1))) ?? [];
  return before.end - before.start + 1 + word.length > line.widest;
}

/** The lines of a text that are not blank. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let block: Line[] = [];
  const close = () => {
    const widest = block.reduce((most, { start, end }) => Math.max(most, end - start), 0);
    for (const line of block) line.widest = widest;
    block = [];
  };
  const add = (start: number, end: number) => {
    const line = text.slice(start, end);
    const trimmed = line.trim();
    if (trimmed === "") {
      close();
      return;
    }
    const from = start + line.length - line.trimStart().length;
    const added = { start: from, end: from + trimmed.length, widest: 0 };
    block.push(added);
    lines.push(added);
  };
  let start = 0;
  for (const { index, 0: broken } of text.matchAll(LINE_BREAK)) {
    add(start, index);
    start = index + broken.length;
  }
  add(start, text.length);
  close();
  return lines;
}

/** What is left of a text when statements are cut out of it. */
export interface Cutting {
  /** The text that is left. */
  text: string;
  /** What was cut, in ascending order: the text without these spans is the text that is left. They include white space. */
  spans: Span[];
}

/**
 * Cuts statements out of a text. Of the white space before and after a cut, the part with more line breaks stays, so that the
 * statements around it are as far apart as they were from what was cut.
 *
 * @param statements all statements of the text, from {@link splitStatements}.
 * @param cut the indices of those to cut.
 */
export function withoutStatements(text: string, statements: readonly Span[], cut: ReadonlySet<number>): Cutting {
  const spans: Span[] = [];
  for (let first = 0; first < statements.length; first++) {
    if (!cut.has(first)) continue;
    let last = first;
    while (cut.has(last + 1)) last++;
    spans.push(cutSpan(text, statements, first, last));
    first = last;
  }
  let left = "";
  let from = 0;
  for (const { start, end } of spans) {
    left += text.slice(from, start);
    from = end;
  }
  return { text: left + text.slice(from), spans };
}

/** The span to cut for the statements from `first` to `last`. */
function cutSpan(text: string, statements: readonly Span[], first: number, last: number): Span {
  const { start } = statements[first] as Span;
  const { end } = statements[last] as Span;
  const before = statements[first - 1];
  const after = statements[last + 1];
  if (!before && !after) return { start: 0, end: text.length };
  if (!after) return { start: before?.end ?? 0, end };
  if (!before) return { start, end: after.start };
  const isWeaker = breaksIn(text.slice(before.end, start)) < breaksIn(text.slice(end, after.start));
  return isWeaker ? { start: before.end, end } : { start, end: after.start };
}

function breaksIn(space: string): number {
  return space.match(LINE_BREAK)?.length ?? 0;
}
