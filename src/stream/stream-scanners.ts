import type { CheckId } from "../scan/check-result.ts";
import type { Exceptions } from "../scan/exceptions/exceptions.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/named-scanners.ts";
import type { PartStreaming, ScanContext, Scanner, SpanStreaming, Streaming } from "../scan/scanner.ts";
import { longestMatch } from "../scanners/parts/open-spans.ts";

/** Scanners that judge the parts of the same text. */
export interface PartScanners {
  scanners: NamedScanner[];
  /** The rewriting scanner whose text they read. Undefined if they read the original answer. */
  after: string | undefined;
  /** The length of the text before a part that they read again. */
  overlap: number;
}

/** The scanners of a streamed answer, by how they read it. */
export interface StreamScanners {
  /** All scanners in order, without the suppressed ones. */
  readonly all: readonly NamedScanner[];
  /** The suppressed checks. */
  readonly suppressed: readonly CheckId[];
  /** The scanners that find spans, and read new text together with the text around it. */
  readonly spans: readonly NamedScanner[];
  /** The span scanners with a model. */
  readonly byModel: readonly NamedScanner[];
  /** The span scanners that find a value anywhere once they have found it. */
  readonly repeating: readonly NamedScanner[];
  /** The scanners that judge each part once. */
  readonly parts: readonly PartScanners[];
  /** The scanners that run once, at the end. */
  readonly atEnd: readonly NamedScanner[];
  /** Whether no text may be released before the end, because a scanner may rewrite the whole answer. */
  readonly holdsAll: boolean;
  /** Whether a scanner judges sentences, so that text waits for their ends. */
  readonly waitsForSentences: boolean;
  /** The scanners that can detect open spans. */
  readonly openSpans: readonly Streaming[];
  /** The length of the text that must follow an offset within a sentence before it is released. */
  readonly span: number;
  /** The same for an offset at the end of a sentence or a line. */
  readonly across: number;
  /** The length of the text before new text that the span scanners read again. */
  readonly before: number;
}

/** The default of {@link SpanStreaming.before}. */
const BEFORE = 256;

/** Groups scanners by how they read a stream. */
export function streamScanners(
  named: readonly NamedScanner[],
  {
    suppress,
    rewrite,
    context,
    exceptions,
  }: {
    suppress: readonly string[] | ReadonlySet<string>;
    rewrite: boolean;
    context: ScanContext;
    exceptions?: Exceptions | undefined;
  },
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
  // Text that belongs to an excepted passage must not be judged before all of the passage has arrived.
  const passage = spans.length > 0 ? longestPassage(exceptions) : 0;
  return {
    ...{ all, suppressed, spans, byModel, atEnd },
    repeating: spans.filter((_, index) => streamings[index]?.repeats),
    parts: partsOf(all, partScanners),
    holdsAll: rewrite && atEnd.some(({ scanner }) => scanner.sanitizes),
    waitsForSentences: byModel.length > 0 || partStreamings.some(({ reads }) => reads === "sentences"),
    openSpans: [...streamings, ...partStreamings].filter(({ openFrom }) => openFrom !== undefined),
    span: Math.max(
      passage,
      longest(({ span }) => span),
    ),
    across: Math.max(
      passage,
      longest(({ across = 0 }) => across),
    ),
    before: streamings.reduce((most, { before = BEFORE }) => Math.max(most, before), passage),
  };
}

/** The length of the longest passage that exceptions may have in an answer. */
function longestPassage(exceptions: Exceptions | undefined): number {
  const lengths = exceptions?.ofAnswers().map(({ substring, pattern = "" }) => {
    if (substring === undefined) return longestMatch(pattern);
    // A word is held until it is complete.
    return /\s/.test(substring) ? substring.length : 0;
  });
  return Math.max(0, ...(lengths ?? []));
}

function readsSpans({ streaming }: Scanner): boolean {
  return streaming?.reads === "spans";
}

/** Groups part scanners by the rewriting scanner whose text they read. */
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

/** Returns the rewriting scanner whose text a span scanner reads. Undefined if it reads the original answer. */
export function predecessorOf(scanners: readonly NamedScanner[], name: string): string | undefined {
  let after: string | undefined;
  for (const item of scanners) {
    if (item.name === name) break;
    if (item.scanner.sanitizes) after = item.name;
  }
  return after;
}
