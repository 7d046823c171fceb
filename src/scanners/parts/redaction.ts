import type { Edit } from "../../scan/edits.ts";
import type { Span } from "../../text/span.ts";

/** The text that replaces redacted spans, as in llm-guard. */
export const REDACTED = "[REDACTED]";

/**
 * Returns edits that replace spans by `[REDACTED]`, or by the text that `replacement` returns. Spans that overlap become one edit, with
 * the replacement of the first one.
 *
 * @param spans in any order.
 */
export function redactions<Part extends Span>(
  spans: readonly Part[],
  replacement: (span: Part) => string = () => REDACTED,
): Edit[] {
  const edits: Edit[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = edits.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else edits.push({ start: span.start, end: span.end, replacement: replacement(span) });
  }
  return edits;
}

/**
 * Returns the spans that are neither empty nor inside an earlier `[REDACTED]`. Otherwise a pattern that matches capital letters would turn
 * `[REDACTED]` into `[[REDACTED]]`.
 */
export function redactable<Part extends Span>(text: string, spans: readonly Part[]): Part[] {
  const isRedacted = text.includes(REDACTED);
  return spans.filter((span) => span.start < span.end && !(isRedacted && isInsideRedaction(text, span)));
}

function isInsideRedaction(text: string, { start, end }: Span): boolean {
  for (let at = Math.max(0, end - REDACTED.length); at <= start; at++) {
    if (text.startsWith(REDACTED, at)) return true;
  }
  return false;
}

/** Returns the field `edits` of a verdict. It is absent when there are no edits. */
export function withEdits(edits: readonly Edit[]): { edits?: readonly Edit[] } {
  return edits.length > 0 ? { edits } : {};
}
