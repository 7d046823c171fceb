import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { AnswerCache } from "../models/call-context.ts";
import { addCoverage } from "../scan/merge.ts";
import {
  emptyReport,
  isSuppressed,
  type NamedScanner,
  nameScanners,
  ownSignal,
  type RunOptions,
  runScanners,
  type ScanCoverage,
  type ScanOptions,
  type ScanReport,
  suppressedNames,
} from "../scan/scan.ts";
import { checkDocumentsOptions } from "../scan/scan-options.ts";
import { type Finding, type ScanContext, type Scanner, scanningWith } from "../scan/scanner.ts";
import { Vault } from "../scan/vault.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { Turns } from "../support/turns.ts";
import { codePointOffsets, type OffsetUnit } from "../text/offsets.ts";
import { type Judgement, judgementOf, type MaskedText, maskText } from "./masking.ts";

/** The options that say how documents are scanned. */
export interface DocumentsOptions extends Omit<ScanOptions, "conversation"> {
  /**
   * Whether the statements of a document by which it fails as an injection are cut out, so that the rest of it can be used. A
   * statement is a sentence, or a line of a table, a list or a log. All scanners with {@link Scanner.detect} have a say. The
   * default is false.
   */
  maskInjections?: boolean;
  /** With `false`, no scanner rewrites a document and all scanners see it as it was given. The default is true. */
  rewrite?: boolean;
  /**
   * Whether the call stops at the first document that fails, at the first scanner that fails it. Scanners and documents behind it
   * have no result. The default is false.
   */
  failFast?: boolean;
}

/** The results for one document, as it was given. */
export interface DocumentReport extends Omit<ScanReport, "engineTiming"> {
  /** The document after the sanitizing scanners, and without what was cut out of it. */
  sanitizedText: string;
  /** What was cut out. It is absent when nothing was: masking was not asked for, or the document is no injection. */
  masked?: MaskedReport;
}

/** What masking did to a document, and how what is left of it fares. */
export interface MaskedReport {
  /** Whether what is left passes all scanners. An empty text does, so a document of nothing but an attack may be left empty. */
  isValid: boolean;
  /** The results for what is left, by scanner. */
  resultsValid: Record<string, boolean>;
  resultsScore: Record<string, number>;
  /** How much was looked at of what is left. */
  coverage: ScanCoverage;
  /** The number of statements that were cut out. */
  statements: number;
  /** What was cut out, in ascending order. The document as it was given is what is left and these spans. */
  cuts: Finding[];
}

export interface DocumentsReport {
  /** Whether all documents pass as they were given. */
  isValid: boolean;
  /** The results for each document, in the order of the documents. With `failFast` the list ends with the first that fails. */
  documents: DocumentReport[];
  /** How long each model took for all documents together; see {@link ScanReport.engineTiming}. */
  engineTiming: ScanReport["engineTiming"];
  /** How much was looked at of all documents together. */
  coverage: ScanCoverage;
}

/**
 * Scans documents, such as the passages that a retriever found, each by itself and many at a time. Documents that are the same are
 * scanned once. Each is data (`source: "tool"`) unless the options say otherwise.
 *
 * Scanners that rewrite go through the documents in their order and share one vault, so that a name has the same placeholder in all
 * of them.
 *
 * @throws GuardValidationError for arguments of the wrong type, with the path `texts.3` for the fourth document; ScannerError when a
 *   scanner throws, and the signal's reason when the signal is aborted.
 */
export async function scanDocuments(
  scanners: readonly Scanner[],
  texts: readonly string[],
  options: DocumentsOptions = {},
): Promise<DocumentsReport> {
  checkDocuments(texts);
  checkDocumentsOptions(options);
  return scanNamedDocuments(nameScanners(scanners), texts, options, options.failFast ?? false);
}

function checkDocuments(texts: unknown): void {
  if (!Array.isArray(texts)) {
    throw new GuardValidationError([{ path: "texts", message: "expected an array of strings" }]);
  }
  // Not flatMap, which would skip the holes of an array.
  const issues = Array.from(texts, (text: unknown, index) =>
    typeof text === "string" ? [] : [{ path: `texts.${index}`, message: `expected a string, got ${typeof text}` }],
  ).flat();
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/**
 * Does what {@link scanDocuments} does, for options that were already checked.
 *
 * @param stops whether no document is scanned after the first one that fails.
 */
export async function scanNamedDocuments(
  named: readonly NamedScanner[],
  texts: readonly string[],
  { maskInjections = false, signal: outer, source = "tool", ...rest }: DocumentsOptions & Pick<RunOptions, "onWork">,
  stops: boolean,
): Promise<DocumentsReport> {
  const { signal, stop } = ownSignal(outer);
  const context = { source, answers: new AnswerCache() };
  // Without a vault every document would have placeholders of its own, and two people might share one.
  const given = { vault: rest.vault ?? new Vault(), suppress: suppressedNames(rest.suppress), signal };
  const options = Object.assign({}, rest, given);
  const scan = new DocumentScan(named, context, options, maskInjections);
  const unique = [...new Set(texts)];
  const reports = new Map<string, DocumentReport>();
  /** No document from here on is scanned. */
  let end = unique.length;
  const limit = pLimit(PARALLEL);
  // Short documents are scanned at once, so that nothing else would let the event loop go on.
  const turns = new Turns(signal);
  try {
    outer?.throwIfAborted();
    const scanned = unique.map((text, index) =>
      limit(async () => {
        if (index >= end) return;
        const report = await scan.document(text);
        reports.set(text, report);
        if (stops && !report.isValid) end = Math.min(end, index + 1);
        // Not before it: the next documents would overtake one that waits, and they have to begin in their order.
        if (turns.isOver) await turns.next();
      }),
    );
    await Promise.all(scanned);
  } finally {
    limit.clearQueue();
    stop();
  }
  // Where the call stopped early, documents behind the first failing one may have a report already: they ran at the same time.
  const failed = stops ? texts.findIndex((text) => reports.get(text)?.isValid === false) : -1;
  const documents = (failed < 0 ? texts : texts.slice(0, failed + 1)).map(
    (text) => reports.get(text) as DocumentReport,
  );
  const { coverage } = emptyReport();
  for (const document of documents) addCoverage({ coverage }, document);
  const isValid = documents.every((document) => document.isValid);
  return { isValid, documents, engineTiming: context.answers.timings, coverage };
}

/**
 * How many documents of one call are scanned at the same time, and how many parts of them are judged for masking. Each engine thread
 * has work when about two texts per processor wait. More would only fill the queue of the models, before which other requests
 * stand as well: threads take the texts that wait in turn.
 */
const PARALLEL = Math.min(32, Math.max(8, 2 * availableParallelism()));

/** Scans the documents of one call, which share answers, a vault and their place in the queues of models. */
class DocumentScan {
  readonly #scanners: readonly NamedScanner[];
  readonly #masking: readonly NamedScanner[];
  readonly #context: ScanContext;
  readonly #options: Omit<DocumentsOptions, "suppress"> & { suppress: ReadonlySet<string> };
  readonly #limit = pLimit(PARALLEL);
  /** Settles when all documents that have begun are through with a scanner that rewrites. */
  readonly #through = new Map<NamedScanner, Promise<void>>();
  /** How many scanners are at work on a text now, and who waits for one of them to end. */
  #working = 0;
  #waiting: (() => void)[] = [];

  constructor(
    scanners: readonly NamedScanner[],
    context: ScanContext,
    options: Omit<DocumentsOptions, "suppress"> & { suppress: ReadonlySet<string> },
    masks: boolean,
  ) {
    this.#scanners = scanners.map((item) => this.#patient(item));
    this.#masking = masks
      ? this.#scanners.filter((item, index) => {
          return scanners[index]?.scanner.detect !== undefined && !isSuppressed(item, options.suppress);
        })
      : [];
    this.#context = context;
    this.#options = options;
  }

  /** Scans a document. The documents have to begin in their order, because those that rewrite are given them in that order. */
  async document(text: string): Promise<DocumentReport> {
    const { scanners, waited, leave } = this.#inTurn();
    try {
      const masked = await this.#mask(text);
      if (!masked) {
        const { text: sanitizedText, engineTiming: _, ...report } = await this.#run(scanners, text, this.#options);
        for (const [name, milliseconds] of waited) {
          report.timing[name] = Math.max(0, (report.timing[name] ?? 0) - milliseconds);
        }
        return { sanitizedText, ...report };
      }
      // All scanners judge the document as it was given. Only what is left of it is rewritten, so that the vault has no values that
      // were cut out.
      const { vault: _, ...judging } = this.#options;
      const given = await this.#run(this.#scanners, text, { ...judging, rewrite: false });
      const { text: __, engineTiming: ___, ...report } = given;
      const left = await this.#run(scanners, masked.text, this.#options);
      const { isValid, resultsValid, resultsScore, coverage } = left;
      const { statements } = masked;
      const cuts = findingsIn(this.#options.offsets, text, masked.cuts);
      return {
        ...report,
        sanitizedText: left.text,
        masked: { isValid, resultsValid, resultsScore, coverage, statements, cuts },
      };
    } finally {
      leave();
    }
  }

  /** Returns what is left of a document that fails as an injection, and undefined for other documents. */
  async #mask(text: string): Promise<MaskedText | undefined> {
    if (this.#masking.length === 0) return undefined;
    const judged = new Map<string, Promise<Judgement & { isBroken: boolean }>>();
    const judge = (part: string) => {
      const known = judged.get(part) ?? this.#limit(() => this.#judge(part));
      judged.set(part, known);
      return known;
    };
    const known = await judge(text);
    // A scanner that threw, under onScannerError: "block", has not said what is wrong with the document.
    return known.isValid || known.isBroken ? undefined : maskText(text, judge, known, this.#options);
  }

  /** Asks the scanners that mask. Their offsets count UTF-16 code units here, whatever the call asked for. */
  async #judge(text: string): Promise<Judgement & { isBroken: boolean }> {
    const { vault: _, ...options } = this.#options;
    const judging = { ...options, offsets: "utf16", rewrite: false, failFast: false } as const;
    const report = await this.#run(this.#masking, text, judging);
    return { ...judgementOf(report, text), isBroken: report.coverage.failed.length > 0 };
  }

  #run(scanners: readonly NamedScanner[], text: string, options: Parameters<typeof runScanners>[3]) {
    return runScanners(scanners, text, this.#context, options);
  }

  /**
   * Returns the scanners for the next document. Those that rewrite wait until the document before it is through with them.
   *
   * @returns also the milliseconds that scanners waited, by name, and a function that has to be called when the document is through
   *   with all of them.
   */
  #inTurn(): { scanners: readonly NamedScanner[]; waited: Map<string, number>; leave: () => void } {
    const waited = new Map<string, number>();
    // Where nothing is rewritten, each scanner has a copy of the vault.
    if (this.#options.rewrite === false) return { scanners: this.#scanners, waited, leave: () => {} };
    let leave: () => void = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const scanners = this.#scanners.map((item) => {
      if (!item.scanner.sanitizes) return item;
      const before = this.#through.get(item) ?? Promise.resolve();
      let end: () => void = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      this.#through.set(
        item,
        before.then(() => Promise.race([ended, left])),
      );
      const scan = async (text: string, context: ScanContext) => {
        const start = performance.now();
        await before;
        waited.set(item.name, performance.now() - start);
        context.signal?.throwIfAborted();
        try {
          return await item.scanner.scan(text, context);
        } finally {
          end();
        }
      };
      return { name: item.name, scanner: scanningWith(item.scanner, scan) };
    });
    return { scanners, waited, leave };
  }

  /**
   * Returns a scanner that does not give up when a model's queue is full of other texts of this call: it waits for one of them and
   * asks again. When nothing else of this call is under way, others fill the queue, and the call is refused like any other.
   */
  #patient({ name, scanner }: NamedScanner): NamedScanner {
    const scan = async (text: string, context: ScanContext) => {
      for (;;) {
        this.#working++;
        let isRefused = false;
        try {
          return await scanner.scan(text, context);
        } catch (error) {
          isRefused = error instanceof GuardError && error.code === "GUARD_OVERLOADED" && this.#working > 1;
          if (!isRefused) throw error;
        } finally {
          this.#working--;
          // A text that was refused has made no room. If it woke the others, they would all ask again for ever.
          if (!isRefused) for (const wake of this.#waiting.splice(0)) wake();
        }
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
        context.signal?.throwIfAborted();
      }
    };
    return { name, scanner: scanningWith(scanner, scan) };
  }
}

/** Converts the offsets of findings from UTF-16 code units to another unit. */
function findingsIn(unit: OffsetUnit = "utf16", text: string, findings: readonly Finding[]): Finding[] {
  if (unit === "utf16") return [...findings];
  const offsets = findings.flatMap(({ start, end }) => [start, end]);
  const points = codePointOffsets(text, offsets);
  return findings.map((finding) => ({
    ...finding,
    start: points.get(finding.start) ?? finding.start,
    end: points.get(finding.end) ?? finding.end,
  }));
}
