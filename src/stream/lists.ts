import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/scan.ts";
import type { PartStreaming, ScanContext, SpanStreaming, Streaming } from "../scan/scanner.ts";

/** Scanners that judge the same text, part by part. */
export interface Judges {
  scanners: NamedScanner[];
  /** The sanitizing scanner whose text they read; undefined when they read the answer as it came. */
  after: string | undefined;
  /** How much of the text before a part they read again. */
  overlap: number;
}

/** The scanners of an answer that arrives in pieces, by the ways in which they read it. */
export interface StreamLists {
  /** All scanners, in their order, without those that the call leaves out. */
  readonly all: readonly NamedScanner[];
  /** The names of those that the call leaves out. */
  readonly suppressed: readonly string[];
  /** The scanners that find spans, and read new text together with the text around it. */
  readonly spans: readonly NamedScanner[];
  /** Those of them that ask models. */
  readonly byModel: readonly NamedScanner[];
  /** Those of them that find a value everywhere once they have found it. */
  readonly repeating: readonly NamedScanner[];
  /** The scanners that judge each part once. */
  readonly judges: readonly Judges[];
  /** The scanners that run once, at the end. */
  readonly atEnd: readonly NamedScanner[];
  /** Whether nothing may be given out before the end, because a scanner may rewrite all of the answer. */
  readonly holdsAll: boolean;
  /** Whether some scanner judges sentences, so that text waits for their ends. */
  readonly waitsForSentences: boolean;
  /** The scanners that know spans which have not ended. */
  readonly openSpans: readonly Streaming[];
  /** How much text must have been looked at behind a place within a sentence before it is given out. */
  readonly span: number;
  /** The same behind the end of a sentence or a line. */
  readonly across: number;
  /** How much text before what is new the scanners of spans read again. */
  readonly before: number;
}

/** The length of {@link SpanStreaming.before} unless a scanner says another one. */
const BEFORE = 256;

/** Sorts the scanners of a list by the ways in which they read a stream. */
export function streamLists(
  named: readonly NamedScanner[],
  { suppress, rewrite, context }: { suppress: readonly string[]; rewrite: boolean; context: ScanContext },
): StreamLists {
  const left = suppressedNames(suppress);
  const all = named.filter((item) => !isSuppressed(item, left));
  const spans: NamedScanner[] = [];
  const byModel: NamedScanner[] = [];
  const atEnd: NamedScanner[] = [];
  const judges = new Map<string | undefined, Judges>();
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
      const same = judges.get(after) ?? { scanners: [], after, overlap: 0 };
      judges.set(after, same);
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
    suppressed: named.filter((item) => isSuppressed(item, left)).map(({ name }) => name),
    spans,
    byModel,
    repeating: spans.filter(({ scanner: { streaming } }) => streaming?.reads === "spans" && streaming.repeats),
    judges: [...judges.values()],
    atEnd,
    holdsAll,
    waitsForSentences: byModel.length > 0 || partReadings.some(({ reads }) => reads === "sentences"),
    openSpans: [...spanReadings, ...partReadings].filter(({ openFrom }) => openFrom !== undefined),
    span: longest(({ span }) => span),
    across: longest(({ across = 0 }) => across),
    before: spanReadings.reduce((most, { before = BEFORE }) => Math.max(most, before), 0),
  };
}
