/** A half-open range of a text, in UTF-16 code units: `text.slice(start, end)` is what it covers. */
export interface Span {
  start: number;
  end: number;
}

/** Tells whether a span overlaps with one of these. */
export function overlapping(spans: readonly Span[]): (span: Span) => boolean {
  const ordered = merged(spans);
  return ({ start, end }) => {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ordered[middle] as Span).end <= start) low = middle + 1;
      else high = middle;
    }
    const next = ordered[low];
    return next !== undefined && next.start < end;
  };
}

/** Returns spans in order, with overlapping spans joined. */
export function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}
