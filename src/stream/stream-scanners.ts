import type { CheckId } from "../scan/check-result.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/named-scanners.ts";
import type { PartStreaming, ScanContext, SpanStreaming, Streaming } from "../scan/scanner.ts";

/** Scanners that judge the same text, part by part. */
export interface PartScanners {
  scanners: NamedScanner[];
  /** The rewriting scanner whose text they read; undefined when they read the answer as it came. */
  after: string | undefined;
  /** How much of the text before a part they read again. */
  overlap: number;
}

/** The scanners of an answer that arrives in pieces, by the ways in which they read it. */
export interface StreamScanners {
  /** All scanners, in their order, without those that the call leaves out. */
  readonly all: readonly NamedScanner[];
  /** The checks that the call leaves out. */
  readonly suppressed: readonly CheckId[];
  /** The scanners that find spans, and read new text together with the text around it. */
  readonly spans: readonly NamedScanner[];
  /** The span scanners that ask models. */
  readonly byModel: readonly NamedScanner[];
  /** The span scanners that find a value everywhere once they have found it. */
  readonly repeating: readonly NamedScanner[];
  /** The scanners that judge each part once. */
  readonly parts: readonly PartScanners[];
  /** The scanners that run once, at the end. */
  readonly atEnd: readonly NamedScanner[];
  /** Whether nothing may be released before the end, because a scanner may rewrite all of the answer. */
  readonly holdsAll: boolean;
  /** Whether some scanner judges sentences, so that text waits for their ends. */
  readonly waitsForSentences: boolean;
  /** The scanners that know spans which have not ended. */
  readonly openSpans: readonly Streaming[];
  /** How much text must have been read behind a place within a sentence before it is released. */
  readonly span: number;
  /** The same behind the end of a sentence or a line. */
  readonly across: number;
  /** How much text before new text the span scanners read again. */
  readonly before: number;
}

/** The length of {@link SpanStreaming.before} unless a scanner says another one. */
const BEFORE = 256;

/** Sorts the scanners of a list by the ways in which they read a stream. */
export function streamScanners(
  named: readonly NamedScanner[],
  {
    suppress,
    rewrite,
    context,
  }: { suppress: readonly string[] | ReadonlySet<string>; rewrite: boolean; context: ScanContext },
): StreamScanners {
  const suppressed = suppressedNames(suppress);
  const all = named.filter((item) => !isSuppressed(item, suppressed, "output"));
  const spans: NamedScanner[] = [];
  const byModel: NamedScanner[] = [];
  const atEnd: NamedScanner[] = [];
  const parts = new Map<string | undefined, PartScanners>();
  const spanReadings: SpanStreaming[] = [];
  const partReadings: PartStreaming[] = [];
  let holdsAll = false;
  let after: string | undefined;
  for (const item of all) {
    const { streaming, sanitizes } = item.scanner;
    if (streaming?.reads === "spans") {
      spans.push(item);
      spanReadings.push(streaming);
      if (streaming.byModel) byModel.push(item);
      if (sanitizes) after = item.name;
    } else if (sanitizes) {
      holdsAll ||= rewrite;
      atEnd.push(item);
    } else if (streaming) {
      partReadings.push(streaming);
      const same = parts.get(after) ?? { scanners: [], after, overlap: 0 };
      parts.set(after, same);
      same.scanners.push(item);
      same.overlap = Math.max(same.overlap, streaming.overlap);
    } else {
      atEnd.push(item);
    }
  }
  const longest = (of: (streaming: SpanStreaming) => SpanStreaming["span"]) =>
    spanReadings.reduce((most, streaming) => {
      const length = of(streaming);
      return Math.max(most, typeof length === "number" ? length : length(context));
    }, 0);
  return {
    all,
    suppressed: named
      .filter((item) => isSuppressed(item, suppressed, "output"))
      .map(({ name }) => ({ scanner: name, scope: "output" })),
    spans,
    byModel,
    repeating: spans.filter(({ scanner: { streaming } }) => streaming?.reads === "spans" && streaming.repeats),
    parts: [...parts.values()],
    atEnd,
    holdsAll,
    waitsForSentences: byModel.length > 0 || partReadings.some(({ reads }) => reads === "sentences"),
    openSpans: [...spanReadings, ...partReadings].filter(({ openFrom }) => openFrom !== undefined),
    span: longest(({ span }) => span),
    across: longest(({ across = 0 }) => across),
    before: spanReadings.reduce((most, { before = BEFORE }) => Math.max(most, before), 0),
  };
}

/** Returns the rewriting scanner whose text a span scanner reads; undefined when it reads the answer as it came. */
export function readsAfter(scanners: readonly NamedScanner[], name: string): string | undefined {
  let after: string | undefined;
  for (const item of scanners) {
    if (item.name === name) break;
    if (item.scanner.sanitizes) after = item.name;
  }
  return after;
}
