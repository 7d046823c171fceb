import type { Abortable } from "../native.ts";
import { splitSentences } from "./sentences.ts";
import type { Span } from "./span.ts";

/** A line of a text, without its line break and the white space around it. */
interface Line extends Span {
  /** The length of the longest line of its block. A block ends at a blank line. */
  widest: number;
}

/** A line break of the Unicode newline guidelines (The Unicode Standard, section 5.8). */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Prose is not wrapped into narrower columns than this, in UTF-16 code units. Chinese and Japanese need half of what Latin needs. */
const MIN_WIDTH = 16;

/** How many code units of a line are matched with {@link STANDS_ALONE}. It bounds the time that the pattern takes. */
const PREFIX_LENGTH = 32;

/** The start of a line that is a statement of its own: a table row, a list item, markup, a time stamp, or a field such as `Subject: x`. */
const STANDS_ALONE = /^(?:[|[<{>#*+]|[-–•] |\S{0,12}\d[-:/.]\d|[\p{L}\p{N}_-]{1,20}:\s)/u;

/**
 * Splits a text into statements: the smallest parts that can be removed as a whole. In prose they are sentences. Where line breaks do not
 * wrap a paragraph, as in tables, lists, logs and mail headers, each line is a statement.
 *
 * @returns spans in ascending order, without overlaps and surrounding white space. They cover everything but white space.
 */
export async function splitStatements(text: string, abortable?: Abortable): Promise<Span[]> {
  const sentences = await splitSentences(text, abortable);
  const lines = splitLines(text);
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
      if (open && isSoftWrap(text, lines[index - 1] as Line, line)) {
        open.end = end;
      } else {
        open = { start: Math.max(line.start, sentence.start), end };
        statements.push(open);
      }
    }
    // Rust and JavaScript define white space differently: U+FEFF alone is a sentence, but not a line.
    if (statements.length === known) statements.push({ start: sentence.start, end: sentence.end });
  }
  return statements;
}

/**
 * Whether the break between two lines only wraps a paragraph. Editors break a line where the next word no longer fits (greedy line
 * breaking), so a line with room for that word was ended on purpose.
 */
function isSoftWrap(text: string, before: Line, line: Line): boolean {
  if (line.widest < MIN_WIDTH) return false;
  const beginning = text.slice(line.start, Math.min(line.end, line.start + PREFIX_LENGTH));
  if (STANDS_ALONE.test(beginning) || text.slice(before.start, before.end).includes("\t")) return false;
  const [word = ""] = /^\S*/.exec(text.slice(line.start, Math.min(line.end, line.start + line.widest + 1))) ?? [];
  return before.end - before.start + 1 + word.length > line.widest;
}

/** Returns the lines of a text that are not blank. */
function splitLines(text: string): Line[] {
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

/** A text after statements were cut out of it. */
export interface CutResult {
  /** The remaining text. */
  text: string;
  /** The spans that were cut, in ascending order, with their white space. */
  spans: Span[];
}

/**
 * Cuts statements out of a text. Of the white space before and after a cut, the side with more line breaks stays, so that paragraphs stay
 * apart.
 *
 * @param statements all statements of the text, from {@link splitStatements}.
 * @param cut the indices of the statements to cut.
 */
export function cutStatements(text: string, statements: readonly Span[], cut: ReadonlySet<number>): CutResult {
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

/** Returns the span to cut for the statements from `first` to `last`. */
function cutSpan(text: string, statements: readonly Span[], first: number, last: number): Span {
  const { start } = statements[first] as Span;
  const { end } = statements[last] as Span;
  const before = statements[first - 1];
  const after = statements[last + 1];
  if (!before && !after) return { start: 0, end: text.length };
  if (!after) return { start: before?.end ?? 0, end };
  if (!before) return { start, end: after.start };
  const isWeaker = countBreaks(text.slice(before.end, start)) < countBreaks(text.slice(end, after.start));
  return isWeaker ? { start: before.end, end } : { start, end: after.start };
}

function countBreaks(space: string): number {
  return space.match(LINE_BREAK)?.length ?? 0;
}
