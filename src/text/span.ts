/** A half-open range of a text, in UTF-16 code units: `text.slice(start, end)` is what it covers. */
export interface Span {
  start: number;
  end: number;
}
