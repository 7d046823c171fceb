import type { MessageText } from "../scan/conversation-text.ts";
import { applyEdits, type Edit } from "../scan/edits.ts";
import type { Span } from "../text/span.ts";

/** Returns the original strings of a text. */
export function stringsOf({ text, pieces }: Pick<MessageText, "text" | "pieces">): string[] {
  return pieces.map(({ start, end }) => text.slice(start, end));
}

/**
 * Applies edits of a text to its strings.
 *
 * An edit across several strings keeps the line breaks between them if its replacement has as many lines as the replaced span. Otherwise
 * the first string receives the whole replacement, and the replaced parts of the others are removed.
 */
export function editedStrings(text: Pick<MessageText, "text" | "pieces">, edits: readonly Edit[]): string[] {
  const parts: Edit[][] = text.pieces.map(() => []);
  let first = 0;
  for (const edit of edits) {
    while (first < text.pieces.length - 1 && isBehind(edit, text.pieces[first] as Span)) first++;
    const last = lastPiece(text, edit, first);
    const replacements = divideReplacement(text, edit, first, last);
    for (let index = first; index <= last; index++) {
      const { start, end } = text.pieces[index] as Span;
      parts[index]?.push({
        start: Math.max(edit.start, start) - start,
        end: Math.min(edit.end, end) - start,
        replacement: replacements[index - first] ?? "",
      });
    }
  }
  return stringsOf(text).map((string, index) => applyEdits(string, parts[index] ?? []));
}

/** Whether an edit is after a string. Insertions at the end of a string belong to it. */
function isBehind({ start, end }: Edit, piece: Span): boolean {
  return start === end ? piece.end < start : piece.end <= start;
}

/** Returns the index of the last string that an edit touches. */
function lastPiece({ pieces }: Pick<MessageText, "pieces">, { end }: Edit, first: number): number {
  let last = first;
  while (last < pieces.length - 1 && (pieces[last + 1] as Span).start < end) last++;
  return last;
}

/** Divides the replacement of an edit among the strings that it touches. */
function divideReplacement(
  { text, pieces }: Pick<MessageText, "text" | "pieces">,
  edit: Edit,
  first: number,
  last: number,
): string[] {
  if (first === last) return [edit.replacement];
  const lines = edit.replacement.split("\n");
  const counts = pieces
    .slice(first, last + 1)
    .map(({ start, end }) => text.slice(Math.max(edit.start, start), Math.min(edit.end, end)).split("\n").length);
  if (counts.reduce((sum, count) => sum + count, 0) !== lines.length) return [edit.replacement];
  let line = 0;
  return counts.map((count) => {
    line += count;
    return lines.slice(line - count, line).join("\n");
  });
}
