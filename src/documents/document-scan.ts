import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { AnswerCache } from "../models/call-context.ts";
import { isValid, type ScanResult } from "../scan/check-result.ts";
import { composeEdits, type Edit } from "../scan/edits.ts";
import { Locator } from "../scan/locator.ts";
import { modeOf } from "../scan/mode.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/named-scanners.ts";
import type { ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import { type Finding, type ScanContext, type Scanner, scanningWith } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { scanText, type TextResult } from "../scan/text-scan.ts";
import { Vault } from "../scan/vault.ts";
import { GuardError } from "../support/errors.ts";
import { callSignal } from "../support/lazy-abort-controller.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { type MaskedText, maskText, type PartVerdict, partVerdict } from "./masking.ts";

/** The options of a scan of documents. */
export interface DocumentScanOptions extends Omit<RunOptions, "scope" | "stop"> {
  /** Whether to cut the statements out by which a document fails as an injection. */
  maskInjections?: boolean;
  /** The source of the documents. The default is `tool`. */
  source?: Source;
  /** Whether to stop at the first failing document. */
  stopAtFirstFailure?: boolean;
}

/** The checks of one original document, and the sanitized document. */
export interface DocumentResult extends ScanResult {
  text: string;
  /** The edits that turn the document into {@link text}. */
  edits: readonly Edit[];
  /** The cuts. Absent if nothing was cut. */
  masked?: { result: ScanResult; statements: number; cuts: Finding[] };
}

/** The results of all documents of a call. */
export interface DocumentResults {
  documents: DocumentResult[];
  engineTiming: ScanReport["engineTiming"];
}

/**
 * The number of documents of one call that are scanned concurrently, and of their parts that are judged for masking. Two texts per
 * processor keep every engine thread busy. More would only fill the queues of models, in which other callers wait too.
 */
const PARALLEL = Math.min(32, Math.max(8, 2 * availableParallelism()));

/** Scans documents with validated options. Equal documents are scanned once. */
export async function scanNamedDocuments(
  named: readonly NamedScanner[],
  texts: readonly string[],
  options: DocumentScanOptions = {},
): Promise<DocumentResults> {
  const { maskInjections = false, stopAtFirstFailure = false, source = "tool", ...rest } = options;
  const { signal, end } = callSignal(options.signal);
  const answers = new AnswerCache();
  const scan = new DocumentScan(
    named,
    { source, answers },
    Object.assign(rest, {
      // Without a shared vault every document would have placeholders of its own, and two people could get the same one.
      vault: options.vault ?? new Vault(),
      suppress: suppressedNames(options.suppress),
      signal,
    }),
    maskInjections,
  );
  try {
    options.signal?.throwIfAborted();
    const documents = await scanAll(texts, scan, { stopAtFirstFailure, signal });
    return { documents, engineTiming: answers.timings };
  } finally {
    end();
  }
}

async function scanAll(
  texts: readonly string[],
  scan: DocumentScan,
  { stopAtFirstFailure, signal }: { stopAtFirstFailure: boolean; signal: AbortSignal },
): Promise<DocumentResult[]> {
  const unique = [...new Set(texts)];
  const results = new Map<string, DocumentResult>();
  /** Documents from this index on are not scanned. */
  let end = unique.length;
  const limit = pLimit(PARALLEL);
  // Short documents are scanned synchronously, so this yields to the event loop.
  const slice = new TimeSlice(signal);
  const scanned = unique.map((text, index) =>
    limit(async () => {
      if (index >= end) return;
      const result = await scan.document(text);
      results.set(text, result);
      if (stopAtFirstFailure && !isValid(result)) end = Math.min(end, index + 1);
      // The pause follows the scan, because documents must start in order and later ones would overtake one that pauses.
      if (slice.isOver) await slice.next();
    }),
  );
  try {
    await Promise.all(scanned);
  } finally {
    limit.clearQueue();
  }
  // Documents after the first failing one may already have a result, because they ran concurrently.
  const isFailing = (text: string) => {
    const result = results.get(text);
    return result !== undefined && !isValid(result);
  };
  const failed = stopAtFirstFailure ? texts.findIndex(isFailing) : -1;
  return (failed < 0 ? texts : texts.slice(0, failed + 1)).map((text) => results.get(text) as DocumentResult);
}

/** Scans the documents of a call, which share answers, a vault and their slots in the queues of models. */
class DocumentScan {
  readonly #scanners: readonly NamedScanner[];
  readonly #masking: readonly NamedScanner[];
  readonly #context: ScanContext;
  readonly #options: RunOptions & { suppress: ReadonlySet<string> };
  readonly #limit = pLimit(PARALLEL);
  readonly #queues = new RewriteQueues();
  readonly #retries = new OverloadRetries();

  constructor(
    scanners: readonly NamedScanner[],
    context: ScanContext,
    options: RunOptions & { suppress: ReadonlySet<string> },
    maskInjections: boolean,
  ) {
    this.#scanners = scanners.map((item) => this.#retries.wrap(item));
    const isMasking = ({ scanner }: NamedScanner) =>
      scanner.detect !== undefined && modeOf(context.source ?? "tool", [options.mode, scanner.mode]) === "enforce";
    this.#masking = maskInjections
      ? this.#scanners.filter(
          (item, index) => isMasking(scanners[index] as NamedScanner) && !isSuppressed(item, options.suppress),
        )
      : [];
    this.#context = context;
    this.#options = options;
  }

  /** Scans a document. Documents must start in order, because rewriting scanners read them in that order. */
  async document(text: string): Promise<DocumentResult> {
    // Without rewriting, each scanner has a copy of the vault.
    const turn = this.#queues.join(this.#scanners, this.#options.rewrite ?? true);
    try {
      const masked = await this.#mask(text);
      return masked ? await this.#scanMasked(text, masked, turn) : await this.#scan(text, turn);
    } finally {
      turn.leave();
    }
  }

  async #scan(text: string, turn: RewriteTurn): Promise<DocumentResult> {
    const { engineTiming: _, ...result } = await this.#run(turn.scanners, text, this.#options);
    result.edits = this.#locator(text).located(result.edits);
    for (const check of result.checks) {
      check.timing = Math.max(0, check.timing - (turn.waited.get(check.scanner) ?? 0));
    }
    return result;
  }

  /** All scanners judge the original document. Only the rest of it is rewritten, so that the vault contains no values that were cut out. */
  async #scanMasked(text: string, masked: MaskedText, turn: RewriteTurn): Promise<DocumentResult> {
    const { vault: _, ...judging } = this.#options;
    const given = await this.#run(this.#scanners, text, Object.assign(judging, { rewrite: false }));
    const left = await this.#run(turn.scanners, masked.text, this.#options);
    const { checks, suppressed, coverage } = given;
    const cuts = masked.cuts.map(({ start, end }) => ({ start, end, replacement: "" }));
    const locator = this.#locator(text);
    const edits = locator.located(composeEdits(cuts, left.edits, masked.text));
    return {
      ...{ checks, suppressed, coverage, text: left.text, edits },
      masked: { result: left, statements: masked.statements, cuts: locator.located(masked.cuts) },
    };
  }

  #locator(text: string): Locator {
    return new Locator(text, undefined, this.#options.offsets ?? "utf16");
  }

  /** Returns the rest of a document that fails as an injection, or undefined for other documents. */
  async #mask(text: string): Promise<MaskedText | undefined> {
    if (this.#masking.length === 0) return undefined;
    const judged = new Map<string, Promise<PartVerdict & { hasError: boolean }>>();
    const judge = (part: string) => {
      const known = judged.get(part) ?? this.#limit(() => this.#judge(part));
      judged.set(part, known);
      return known;
    };
    const known = await judge(text);
    // With onScannerError: "block", a scanner that threw has no findings to cut out.
    return known.isValid || known.hasError ? undefined : maskText(text, judge, known, this.#options);
  }

  async #judge(text: string): Promise<PartVerdict & { hasError: boolean }> {
    const { vault: _, ...options } = this.#options;
    const judging = Object.assign(options, { offsets: "utf16", rewrite: false, failFast: false } as const);
    const result = await this.#run(this.#masking, text, judging);
    const hasError = result.checks.some(({ outcome }) => outcome === "error");
    return Object.assign({ hasError }, partVerdict(result, text));
  }

  #run(scanners: readonly NamedScanner[], text: string, options: RunOptions): Promise<TextResult> {
    return scanText(scanners, text, this.#context, options);
  }
}

/** The turn of one document with the rewriting scanners. */
interface RewriteTurn {
  scanners: readonly NamedScanner[];
  /** The milliseconds that scanners waited for earlier documents, by name. */
  waited: Map<string, number>;
  /** Ends the turn. Call it when the document has passed all scanners. */
  leave(): void;
}

/** Passes documents through rewriting scanners in order: a document waits until the one before it has passed the scanner. */
class RewriteQueues {
  /** Settles when all started documents have passed a scanner. */
  readonly #passed = new Map<NamedScanner, Promise<void>>();

  join(scanners: readonly NamedScanner[], rewrite: boolean): RewriteTurn {
    const waited = new Map<string, number>();
    if (!rewrite) return { scanners, waited, leave: () => {} };
    const { promise: left, settle: leave } = deferred();
    const queued = scanners.map((item) => {
      if (!item.scanner.sanitizes) return item;
      const before = this.#passed.get(item) ?? Promise.resolve();
      const { promise: ended, settle: end } = deferred();
      this.#passed.set(
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
    return { scanners: queued, waited, leave };
  }
}

/** A promise, and the function that resolves it. */
function deferred(): { promise: Promise<void>; settle: () => void } {
  let settle: () => void = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

/**
 * Retries scans that were rejected because a model's queue is full of other texts of this call. Each retry waits until one of those has
 * ended. If no other scan of this call is running, the queue is full of other callers, and the call is rejected.
 */
class OverloadRetries {
  #running = 0;
  #waiting: (() => void)[] = [];

  wrap({ name, scanner }: NamedScanner): NamedScanner {
    return { name, scanner: scanningWith(scanner, (text, context) => this.#scan(scanner, text, context)) };
  }

  async #scan(scanner: Scanner, text: string, context: ScanContext): ReturnType<Scanner["scan"]> {
    for (;;) {
      this.#running++;
      let isRefused = false;
      try {
        return await scanner.scan(text, context);
      } catch (error) {
        isRefused = error instanceof GuardError && error.code === "GUARD_OVERLOADED" && this.#running > 1;
        if (!isRefused) throw error;
      } finally {
        this.#running--;
        // A rejected text has freed no slot. If it woke the others, all of them would retry forever.
        if (!isRefused) for (const wake of this.#waiting.splice(0)) wake();
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      context.signal?.throwIfAborted();
    }
  }
}
