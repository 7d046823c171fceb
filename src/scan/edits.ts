import { firstIndexWhere } from "../support/binary-search.ts";
import type { Span } from "../text/span.ts";

/** A replacement of one part of a text. An edit with `start === end` inserts, and an empty `replacement` deletes. */
export interface Edit extends Span {
  replacement: string;
}

/**
 * Applies edits to a text.
 *
 * @param edits in ascending order and without overlaps. Offsets count UTF-16 code units of `text`.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let end = 0;
  for (const edit of edits) {
    result += text.slice(end, edit.start) + edit.replacement;
    end = edit.end;
  }
  return result + text.slice(end);
}

/**
 * Returns edits that turn `before` into `after`: for each run of changed lines, everything between the first and the last differing
 * character. Lines that are unique in both texts align them (patience diff).
 */
export function diffEdits(before: string, after: string): Edit[] {
  if (before === after) return [];
  const [old, young] = [linesOf(before), linesOf(after)];
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  const addRun = (oldEnd: number, youngEnd: number) => {
    const start = old[i]?.start ?? before.length;
    const removed = before.slice(start, old[oldEnd]?.start ?? before.length);
    const added = after.slice(young[j]?.start ?? after.length, young[youngEnd]?.start ?? after.length);
    if (removed !== added) edits.push(trimmedEdit(start, removed, added));
  };
  for (const [oldLine, youngLine] of alignedLines(old, young)) {
    addRun(oldLine, youngLine);
    [i, j] = [oldLine + 1, youngLine + 1];
  }
  addRun(old.length, young.length);
  return edits;
}

/** A line with its line break. */
interface Line {
  start: number;
  text: string;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start) + 1 || text.length;
    lines.push({ start, text: text.slice(start, end) });
    start = end;
  }
  return lines;
}

/** Pairs equal lines one to one if both texts have the same number of lines, and otherwise lines that are unique in both. */
function alignedLines(old: readonly Line[], young: readonly Line[]): [number, number][] {
  if (old.length === young.length) {
    return old.flatMap(({ text }, index) => (young[index]?.text === text ? [[index, index] as [number, number]] : []));
  }
  const unique = uniqueLines(young);
  const pairs = [...uniqueLines(old)].flatMap(([text, index]) => {
    const other = unique.get(text);
    return other === undefined ? [] : [[index, other] as [number, number]];
  });
  pairs.sort(([a], [b]) => a - b);
  let last = -1;
  return pairs.filter(([, other]) => {
    if (other <= last) return false;
    last = other;
    return true;
  });
}

function uniqueLines(lines: readonly Line[]): Map<string, number> {
  const found = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, { text }] of lines.entries()) {
    if (found.has(text)) repeated.add(text);
    found.set(text, index);
  }
  for (const text of repeated) found.delete(text);
  return found;
}

/** Returns the edit that replaces a part of a text, without the common beginning and end of the part and its replacement. */
function trimmedEdit(offset: number, before: string, after: string): Edit {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  if (isInsidePair(before, start) || isInsidePair(after, start)) start--;
  let common = 0;
  while (
    common < shorter - start &&
    before.charCodeAt(before.length - 1 - common) === after.charCodeAt(after.length - 1 - common)
  ) {
    common++;
  }
  if (isInsidePair(before, before.length - common) || isInsidePair(after, after.length - common)) common--;
  return {
    start: offset + start,
    end: offset + before.length - common,
    replacement: after.slice(start, after.length - common),
  };
}

/** Whether an offset is between the two code units of a character. */
function isInsidePair(text: string, offset: number): boolean {
  const [before, after] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/**
 * A text that several scanners rewrite in sequence. It keeps one list of edits of the original text, and maps offsets of the rewritten
 * text back to it.
 */
export class EditedText {
  readonly original: string;
  #text: string;
  #edits: readonly Edit[] = [];

  constructor(original: string) {
    this.original = original;
    this.#text = original;
  }

  /** The text as rewritten so far. */
  get text(): string {
    return this.#text;
  }

  /** The edits of the original text so far, in ascending order and without overlaps. */
  get edits(): readonly Edit[] {
    return this.#edits;
  }

  /** Returns a copy that later rewrites do not change. */
  snapshot(): EditedText {
    const copy = new EditedText(this.original);
    copy.#text = this.#text;
    copy.#edits = this.#edits;
    return copy;
  }

  /** Applies edits whose offsets count in the rewritten {@link text}, in ascending order and without overlaps. */
  apply(edits: readonly Edit[]): void {
    if (edits.length === 0) return;
    this.#edits = this.#edits.length === 0 ? edits : composeEdits(this.#edits, edits, this.#text);
    this.#text = applyEdits(this.#text, edits);
  }

  /**
   * Maps spans of the rewritten text to the original text. A span that touches a replacement covers the whole replaced span.
   *
   * @returns the spans in the given order.
   */
  originalSpans(spans: readonly Span[]): Span[] {
    if (this.#edits.length === 0) return spans.map(({ start, end }) => ({ start, end }));
    const replaced = replacements(this.#edits);
    return spans.map(({ start, end }) => {
      const first = firstEndingAfter(replaced, start);
      const from = first && first.start < start ? first.edit.start : start - (first?.shift ?? lastShift(replaced));
      const last = firstEndingAfter(replaced, end - 1);
      const to = last && last.start < end ? last.edit.end : end - (last?.shift ?? lastShift(replaced));
      return { start: Math.min(from, to), end: to };
    });
  }
}

/** An edit with the span of its replacement in the rewritten text, and the shift of the text before it. */
interface Replacement extends Span {
  edit: Edit;
  shift: number;
}

function replacements(edits: readonly Edit[]): Replacement[] {
  let shift = 0;
  return edits.map((edit) => {
    const start = edit.start + shift;
    const replacement = { edit, shift, start, end: start + edit.replacement.length };
    shift = replacement.end - edit.end;
    return replacement;
  });
}

/** Returns the shift of the text after all edits. */
function lastShift(replaced: readonly Replacement[]): number {
  const last = replaced.at(-1);
  return last ? last.end - last.edit.end : 0;
}

/** Returns the first replacement that ends after an offset. Replacements are in ascending order. */
function firstEndingAfter(replaced: readonly Replacement[], offset: number): Replacement | undefined {
  return replaced[firstIndexWhere(replaced, ({ end }) => end > offset)];
}

/**
 * Composes two lists of edits that are applied in sequence.
 *
 * @param first edits of the original text.
 * @param second edits of the text after `first`.
 * @param between the text after `first`.
 * @returns edits of the original text. Overlapping edits become one.
 */
export function composeEdits(first: readonly Edit[], second: readonly Edit[], between: string): Edit[] {
  const merged: Edit[] = [];
  let shift = 0;
  let [i, j] = [0, 0];
  const placed = (edit: Edit) => ({ start: edit.start + shift, end: edit.start + shift + edit.replacement.length });
  const skipFirst = (edit: Edit) => {
    shift += edit.replacement.length - (edit.end - edit.start);
    i++;
  };
  while (i < first.length || j < second.length) {
    const one = first[i];
    const two = second[j];
    const range = one && placed(one);
    if (one && range && (!two || isBefore(range, two))) {
      merged.push(one);
      skipFirst(one);
    } else if (two && (!range || isBefore(two, range))) {
      merged.push({ start: two.start - shift, end: two.end - shift, replacement: two.replacement });
      j++;
    } else if (one && two && range) {
      const group = { start: Math.min(range.start, two.start), end: Math.max(range.end, two.end) };
      const start = Math.min(one.start, group.start - shift);
      const own: Edit[] = [];
      for (let isGrowing = true; isGrowing; ) {
        isGrowing = false;
        for (let next = first[i]; next && !isBefore(group, placed(next)); next = first[i]) {
          group.end = Math.max(group.end, placed(next).end);
          skipFirst(next);
          isGrowing = true;
        }
        for (let next = second[j]; next && !isBefore(group, next); next = second[j]) {
          group.end = Math.max(group.end, next.end);
          own.push(next);
          j++;
          isGrowing = true;
        }
      }
      const inside = own.map((edit) => ({
        start: edit.start - group.start,
        end: edit.end - group.start,
        replacement: edit.replacement,
      }));
      const replacement = applyEdits(between.slice(group.start, group.end), inside);
      merged.push({ start, end: group.end - shift, replacement });
    }
  }
  return merged;
}

/** Whether a span ends before another one begins. Two insertions at the same offset overlap. */
function isBefore(one: Span, other: Span): boolean {
  if (one.start === one.end && other.start === other.end) return one.end < other.start;
  return one.end <= other.start;
}
