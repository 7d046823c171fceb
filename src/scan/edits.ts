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

/** Returns the edit that turns `before` into `after`: everything between the first and the last character that differ. */
export function diffEdits(before: string, after: string): Edit[] {
  if (before === after) return [];
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
  return [{ start, end: before.length - common, replacement: after.slice(start, after.length - common) }];
}

/** Whether an offset lies between the two code units of one character. */
function isInsidePair(text: string, offset: number): boolean {
  const [before, after] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/**
 * A text that several scanners rewrite one after the other. It keeps one list of edits on the original text, and maps offsets of the
 * rewritten text back to it.
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

  /** Applies edits whose offsets count in the rewritten {@link text}, in ascending order and without overlaps. */
  apply(edits: readonly Edit[]): void {
    if (edits.length === 0) return;
    this.#edits = this.#edits.length === 0 ? edits : composeEdits(this.#edits, edits, this.#text);
    this.#text = applyEdits(this.#text, edits);
  }

  /**
   * Maps a span of the rewritten text to the original text. A span that touches a replacement covers everything that was replaced there.
   */
  originalSpan({ start, end }: Span): Span {
    if (this.#edits.length === 0) return { start, end };
    let shift = 0;
    let from: number | undefined;
    for (const edit of this.#edits) {
      const replaced = { start: edit.start + shift, end: edit.start + shift + edit.replacement.length };
      if (from === undefined && start < replaced.end) from = start < replaced.start ? start - shift : edit.start;
      if (end <= replaced.start) return { start: Math.min(from ?? start - shift, end - shift), end: end - shift };
      if (end <= replaced.end) return { start: from ?? edit.start, end: edit.end };
      shift = replaced.end - edit.end;
    }
    return { start: from ?? start - shift, end: end - shift };
  }
}

/**
 * Merges two lists of edits that are applied one after the other into one list.
 *
 * @param first edits of the original text.
 * @param second edits of the text that `first` makes.
 * @param between the text that `first` makes.
 * @returns edits of the original text. Edits that overlap become one.
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

/** Whether a span ends before another one begins. Two insertions at one place overlap. */
function isBefore(one: Span, other: Span): boolean {
  if (one.start === one.end && other.start === other.end) return one.end < other.start;
  return one.end <= other.start;
}
