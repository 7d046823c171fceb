import type { CheckId } from "../scan/check-result.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/named-scanners.ts";
import type { PartStreaming, ScanContext, Scanner, SpanStreaming, Streaming } from "../scan/scanner.ts";

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
  const suppressedSet = suppressedNames(suppress);
  const isLeftOut = (item: NamedScanner) => isSuppressed(item, suppressedSet, "output");
  const all = named.filter((item) => !isLeftOut(item));
  const suppressed = named.filter(isLeftOut).map(({ name }) => ({ scanner: name, scope: "output" as const }));
  const spans = all.filter(({ scanner }) => scanner.streaming?.reads === "spans");
  const partScanners = all.filter(({ scanner }) => scanner.streaming && !scanner.sanitizes && !readsSpans(scanner));
  const atEnd = all.filter((item) => !spans.includes(item) && !partScanners.includes(item));
  const streamings = spans.map(({ scanner }) => scanner.streaming as SpanStreaming);
  const partStreamings = partScanners.map(({ scanner }) => scanner.streaming as PartStreaming);
  const byModel = spans.filter((_, index) => streamings[index]?.byModel);
  const longest = (of: (streaming: SpanStreaming) => SpanStreaming["span"]) =>
    streamings.reduce((most, streaming) => {
      const length = of(streaming);
      return Math.max(most, typeof length === "number" ? length : length(context));
    }, 0);
  return {
    ...{ all, suppressed, spans, byModel, atEnd },
    repeating: spans.filter((_, index) => streamings[index]?.repeats),
    parts: partsOf(all, partScanners),
    holdsAll: rewrite && atEnd.some(({ scanner }) => scanner.sanitizes),
    waitsForSentences: byModel.length > 0 || partStreamings.some(({ reads }) => reads === "sentences"),
    openSpans: [...streamings, ...partStreamings].filter(({ openFrom }) => openFrom !== undefined),
    span: longest(({ span }) => span),
    across: longest(({ across = 0 }) => across),
    before: streamings.reduce((most, { before = BEFORE }) => Math.max(most, before), 0),
  };
}

function readsSpans({ streaming }: Scanner): boolean {
  return streaming?.reads === "spans";
}

/** Groups the scanners that judge parts by the rewriting scanner whose text they read. */
function partsOf(all: readonly NamedScanner[], partScanners: readonly NamedScanner[]): PartScanners[] {
  const parts = new Map<string | undefined, PartScanners>();
  let after: string | undefined;
  for (const item of all) {
    if (readsSpans(item.scanner) && item.scanner.sanitizes) after = item.name;
    if (!partScanners.includes(item)) continue;
    const part = parts.get(after) ?? { scanners: [], after, overlap: 0 };
    parts.set(after, part);
    part.scanners.push(item);
    part.overlap = Math.max(part.overlap, (item.scanner.streaming as PartStreaming).overlap);
  }
  return [...parts.values()];
}

/** Returns the rewriting scanner whose text a span scanner reads; undefined when it reads the answer as it came. */
export function predecessorOf(scanners: readonly NamedScanner[], name: string): string | undefined {
  let after: string | undefined;
  for (const item of scanners) {
    if (item.name === name) break;
    if (item.scanner.sanitizes) after = item.name;
  }
  return after;
}
