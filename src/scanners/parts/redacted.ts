import type { Span } from "../../text/span.ts";

/** Replaces spans of a text, which may overlap, by `[REDACTED]` or by what `replacement` returns. */
export function redacted<Part extends Span>(
  text: string,
  spans: readonly Part[],
  replacement: (span: Part) => string = () => "[REDACTED]",
): string {
  let shown = 0;
  let result = "";
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.start >= shown) result += text.slice(shown, span.start) + replacement(span);
    shown = Math.max(shown, span.end);
  }
  return result + text.slice(shown);
}
