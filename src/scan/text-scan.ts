import { AnswerCache } from "../models/call-context.ts";
import { errorKind, ScannerError } from "../support/errors.ts";
import { CALL_ENDED, LazyAbortController } from "../support/lazy-abort-controller.ts";
import { lengthIn } from "../text/offsets.ts";
import {
  addCheckCoverage,
  type CheckOutcome,
  emptyResult,
  type ScanResult,
  type Scope,
  type TextInReview,
} from "./check-result.ts";
import { checkedVerdict } from "./checked-verdict.ts";
import type { MessageText } from "./conversation-text.ts";
import { applyEdits, type Edit, EditedText } from "./edits.ts";
import { type AppliedException, applyExceptions, type PartText } from "./exceptions/excepted-verdict.ts";
import { limitVerdict } from "./findings.ts";
import { withSignal } from "./lazy-context.ts";
import { Locator } from "./locator.ts";
import { modeOf } from "./mode.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "./named-scanners.ts";
import { summarize } from "./observer.ts";
import { resultName, type ScanReport } from "./report.ts";
import type { JoinedText, RunOptions } from "./scan-options.ts";
import {
  type Coverage,
  type Finding,
  needsReview,
  notScanned,
  type ScanContext,
  type Scanner,
  type Verdict,
} from "./scanner.ts";
import { FAILED } from "./score.ts";
import type { Source } from "./source.ts";
import { type Vault, VaultFullError, vaultFor } from "./vault.ts";

/** The checks of a text, and the rewritten text. */
export interface TextResult extends ScanResult {
  text: string;
  /** The text as it would be rewritten if no scanner only monitored. */
  intended: string;
  /** The edits that turn the original text into {@link text}, in UTF-16 code units of the original. */
  edits: readonly Edit[];
  engineTiming: ScanReport["engineTiming"];
}

/** The result of one scanner, before its offsets are mapped to the original. */
interface ScannerRun {
  verdict: Verdict;
  milliseconds: number;
  hasThrown: boolean;
  /** The exceptions that applied to the verdict. */
  excepted?: AppliedException[];
}

/**
 * Runs named scanners over one text.
 *
 * Scanners that may rewrite run in the order of the list, and each reads the text as rewritten so far. The scanners between two of them run
 * concurrently. All offsets of the result count in the original text.
 *
 * Scanners that only monitor read the text as it would be if all scanners enforced, so that their verdicts are those that they will have
 * then. Their edits are never part of the text that goes on, nor of what enforcing scanners read.
 */
export function scanText(
  scanners: readonly NamedScanner[],
  text: string,
  context: ScanContext,
  options: RunOptions = {},
): Promise<TextResult> {
  return new TextScan(scanners, text, context, options).run();
}

/** The scan of one text by a list of scanners. */
class TextScan {
  readonly #scanners: readonly NamedScanner[];
  readonly #context: ScanContext;
  readonly #options: RunOptions;
  readonly #scope: Scope;
  readonly #source: Source;
  readonly #rewrite: boolean;
  readonly #vault: Pick<ScanContext, "vault">;
  /** The scanners that only monitor. */
  readonly #monitoring = new Set<NamedScanner>();
  /** The text as it goes on. */
  readonly #text: EditedText;
  /** The text as it would go on if all scanners enforced. Undefined while it is the same. */
  #intended: EditedText | undefined;
  readonly #locator: Locator;
  readonly #result: ScanResult = emptyResult();
  readonly #answers: AnswerCache;
  /** Stops the scanners of this call. It is absent if nothing can stop a running scanner. */
  #stop: LazyAbortController | undefined;
  /** The number of running scanners. */
  #running = 0;

  constructor(scanners: readonly NamedScanner[], text: string, context: ScanContext, options: RunOptions) {
    const { rewrite = true, scope = "latest", offsets = "utf16" } = options;
    this.#scope = scope;
    this.#rewrite = rewrite;
    this.#context = context;
    this.#options = options;
    this.#source = context.source ?? "user";
    this.#text = new EditedText(text);
    this.#locator = new Locator(text, context.conversation?.current, offsets);
    this.#vault = vaultFor(options.vault, rewrite);
    this.#stop = options.stop;
    this.#scanners = this.#chosen(scanners);
    const { coverage } = this.#result;
    coverage.chars = lengthIn(offsets, text);
    coverage.scannedChars = this.#scanners.length > 0 ? coverage.chars : 0;
    this.#answers = context.answers ?? new AnswerCache();
  }

  async run(): Promise<TextResult> {
    if (!this.#addCached()) await this.#runAll();
    const { text, edits } = this.#text;
    const { text: intended } = this.#intended ?? this.#text;
    return Object.assign({ text, intended, edits, engineTiming: this.#answers.timings }, this.#result);
  }

  #chosen(scanners: readonly NamedScanner[]): readonly NamedScanner[] {
    return this.#withoutSuppressed(this.#withoutOff(scanners));
  }

  /** Leaves out the scanners that are off, and notes those that only monitor. */
  #withoutOff(scanners: readonly NamedScanner[]): readonly NamedScanner[] {
    const { mode = "enforce", ignoresModes = false } = this.#options;
    if (ignoresModes) return scanners;
    if (mode === "enforce" && scanners.every(({ scanner }) => scanner.mode === undefined)) return scanners;
    // A document is the latest text, whatever its source.
    const group = this.#scope === "latest" ? this.#source : this.#scope;
    return scanners.filter((item) => {
      const own = modeOf(group, [mode, item.scanner.mode]);
      if (own === "monitor") this.#monitoring.add(item);
      return own !== "off";
    });
  }

  #withoutSuppressed(scanners: readonly NamedScanner[]): readonly NamedScanner[] {
    const suppressed = suppressedNames(this.#options.suppress);
    if (suppressed.size === 0) return scanners;
    return scanners.filter((item) => {
      const isLeftOut = isSuppressed(item, suppressed, this.#scope);
      if (isLeftOut) this.#result.suppressed.push({ scanner: item.name, scope: this.#scope });
      return !isLeftOut;
    });
  }

  /**
   * Adds the cached verdicts if there is one for every scanner. Nearly all texts of a long conversation are cached, and this is much faster
   * than looking up one verdict after the other.
   */
  #addCached(): boolean {
    const { verdicts, failFast = false, signal, exceptions } = this.#options;
    if (!verdicts || this.#scanners.length === 0 || signal?.aborted) return false;
    const cached: Verdict[] = [];
    let { text } = this.#text;
    let intended = text;
    for (const item of this.#scanners) {
      const { scanner } = item;
      const monitors = this.#monitoring.has(item);
      // Such a scanner has two verdicts.
      if (!monitors && scanner.sanitizes && intended !== text) return false;
      const { verdict } = verdicts.lookUp(scanner, monitors ? intended : text, this.#source, this.#vaultOf(monitors));
      // Exceptions apply to verdicts when they are used, so that the cache needs no change when exceptions change.
      if (!verdict || (exceptions && mayBeExcepted(scanner, verdict))) return false;
      cached.push(verdict);
      const edits = this.#rewrite ? (verdict.edits ?? []) : [];
      if (edits.length > 0) intended = applyEdits(intended, edits);
      if (edits.length > 0 && !monitors) text = intended;
      if (failFast && !verdict.isValid && !monitors) break;
    }
    for (const [index, verdict] of cached.entries()) {
      this.#add(this.#scanners[index] as NamedScanner, { verdict, milliseconds: 0, hasThrown: false });
    }
    return true;
  }

  /** Returns the vault of a scanner: that of the call, or its copy for scanners that only monitor. */
  #vaultOf(monitors: boolean): Vault | undefined {
    const { vault } = this.#vault;
    return monitors && this.#rewrite ? vault?.monitored() : vault;
  }

  /** Returns the text that a scanner reads. */
  #inputOf(monitors: boolean): EditedText {
    return monitors && this.#intended ? this.#intended : this.#text;
  }

  async #runAll(): Promise<void> {
    const groups = this.#rewrite ? groupsOf(this.#scanners) : [this.#scanners];
    const { signal, stop } = this.#options;
    // Without a signal and without concurrent scanners, nothing can abort a running scanner.
    const own = !stop && (signal || groups.some(({ length }) => length > 1)) ? new LazyAbortController() : undefined;
    if (own) this.#stop = own;
    const unfollow = signal && own?.follow(signal);
    try {
      for (const group of groups) {
        signal?.throwIfAborted();
        this.#stop?.throwIfAborted();
        if (!(await this.#runGroup(group))) return;
      }
    } finally {
      unfollow?.();
      // Aborting takes longer than the scan of a short text, even without listeners. The caller stops what the caller created.
      if (this.#running > 0) own?.abort(CALL_ENDED);
    }
  }

  /**
   * Runs scanners concurrently.
   *
   * @returns whether the scan continues. With `failFast` it stops at the first failing scanner.
   */
  async #runGroup(group: readonly NamedScanner[]): Promise<boolean> {
    const { failFast = false } = this.#options;
    const runs = group.map((item) => this.#runExcepted(item, this.#monitoring.has(item)));
    // Each run is awaited below. A run that rejects earlier must not cause an unhandled rejection.
    if (failFast) for (const run of runs) run.catch(() => {});
    // Without failFast, a scanner that throws ends the scan at once. With failFast the order of the list decides, not the speed: a
    // scanner that fails or throws ends the scan only after the scanners before it have ended.
    else if (runs.length > 1) await Promise.all(runs);
    for (const [index, run] of runs.entries()) {
      const item = group[index] as NamedScanner;
      const done = await run;
      this.#add(item, done);
      if (this.#monitoring.has(item)) continue;
      if (failFast && !done.verdict.isValid) return false;
      if (this.#rewrite && this.#intended && item.scanner.sanitizes) await this.#rewriteIntended(item, this.#intended);
    }
    return true;
  }

  /** Rewrites the text as it would be if all scanners enforced. An enforcing scanner has read the other one. */
  async #rewriteIntended(item: NamedScanner, intended: EditedText): Promise<void> {
    const { verdict } = await this.#runExcepted(item, true);
    intended.apply(verdict.edits ?? []);
  }

  /**
   * Runs a scanner, and applies exceptions to a verdict that fails or needs a review.
   *
   * @param monitors whether the verdict has no effect on the text that goes on.
   */
  #runExcepted(item: NamedScanner, monitors: boolean): Promise<ScannerRun> {
    const input = this.#inputOf(monitors);
    const run = this.#run(item, input.text, monitors);
    return this.#options.exceptions ? this.#except(item, input, monitors, run) : run;
  }

  async #except(
    item: NamedScanner,
    { original, edits, text: input }: EditedText,
    monitors: boolean,
    running: Promise<ScannerRun>,
  ): Promise<ScannerRun> {
    const run = await running;
    const { exceptions, credential } = this.#options;
    if (!mayBeExcepted(item.scanner, run.verdict) || run.hasThrown || !exceptions) return run;
    const isUncertain = run.verdict.isValid;
    // For a text in review, whatever needs a review counts as failing.
    const strict = (verdict: Verdict) => (isUncertain ? failingInReview(item.scanner, verdict) : verdict);
    const side = this.#scope === "output" ? "output" : "input";
    const scope = { name: item.name, type: item.scanner.type, side, source: this.#source, credential } as const;
    const list = exceptions.for(scope);
    if (list.length === 0) return run;
    let { milliseconds } = run;
    const judge = async (text: string) => {
      const { verdict, milliseconds: more } = await this.#run(item, text, monitors);
      milliseconds += more;
      return strict(verdict);
    };
    const parts = partsOf(this.#options.joined, this.#context.conversation?.current, original, edits);
    const check = { scanner: item.scanner, text: input, original, parts, verdict: strict(run.verdict), judge };
    const { verdict, applied } = await applyExceptions(exceptions, list, check, { signal: this.#stop?.signal });
    if (applied.length === 0) return { verdict: run.verdict, milliseconds, hasThrown: false };
    return { verdict, milliseconds, hasThrown: false, excepted: applied };
  }

  async #run({ name, scanner }: NamedScanner, input: string, monitors: boolean): Promise<ScannerRun> {
    const { verdicts, observer } = this.#options;
    const vault = this.#vaultOf(monitors);
    const cached = verdicts?.lookUp(scanner, input, this.#source, vault);
    if (cached?.verdict) return { verdict: cached.verdict, milliseconds: 0, hasThrown: false };
    const start = performance.now();
    const observed = observer?.scannerStarted({
      name: resultName({ scanner: name, scope: this.#scope }),
      type: scanner.type,
      chars: input.length,
      ...(monitors ? MONITOR : undefined),
    });
    const asking = observed ? this.#answers.forScanner(observed) : this.#answers;
    const stop = this.#stop;
    this.#running++;
    try {
      const context = Object.assign({}, this.#context, this.#vault, { answers: asking });
      if (monitors) Object.assign(context, { monitors }, vault && { vault });
      const given = stop ? withSignal(scanner, context, stop) : context;
      // A custom scanner may return the verdict without a promise, and may ignore the signal. Its late result is dropped.
      const work = Promise.resolve(scanner.scan(input, given));
      this.#options.onWork?.(work);
      const answer = await (stop ? stop.race(work) : work);
      stop?.throwIfAborted();
      const verdict = limitVerdict(checkedVerdict(scanner, input, answer));
      cached?.keep(verdict);
      const milliseconds = performance.now() - start;
      observed?.ended({ milliseconds, verdict: summarize(verdict) });
      return { verdict, milliseconds, hasThrown: false };
    } catch (error) {
      const reason = stop?.aborted ? stop.reason : error;
      const milliseconds = performance.now() - start;
      observed?.ended({ milliseconds, error: errorKind(reason) });
      if (stop?.aborted || reason instanceof VaultFullError) throw reason;
      if (this.#options.onScannerError !== "block" && !monitors) {
        throw new ScannerError(resultName({ scanner: name, scope: this.#scope }), error);
      }
      return { verdict: failedVerdict(input), milliseconds, hasThrown: true };
    } finally {
      this.#running--;
    }
  }

  /** Adds the check of a scanner, and applies its edits. */
  #add(item: NamedScanner, { verdict, milliseconds, hasThrown, excepted }: ScannerRun): void {
    const { name, scanner } = item;
    const { isValid, score, probability } = verdict;
    const monitors = this.#monitoring.has(item);
    const input = this.#inputOf(monitors);
    const edits = this.#rewrite ? (verdict.edits ?? []) : [];
    const coverage = this.#locator.coverage(originalCoverage(input, verdict.coverage));
    const isUncertain = needsReview(scanner, verdict);
    const isRewritten = () => applyEdits(input.text, edits) !== input.text;
    const outcome = isUncertain ? "review" : outcomeOf(verdict, hasThrown, isRewritten);
    const findings = this.#locator.located(originalFindings(input, verdict.findings));
    const hasEdits = edits.length > 0 && !monitors;
    this.#result.checks.push(
      Object.assign(
        { scanner: name, type: scanner.type, scope: this.#scope, isValid, outcome, score },
        probability === undefined ? undefined : { probability },
        monitors ? MONITOR : undefined,
        { findings, timing: milliseconds, coverage },
        excepted && { excepted: excepted.map((one) => this.#locatedException(input, one)) },
        isUncertain ? { inReview: [this.#textInReview(verdict)] } : undefined,
        hasEdits ? { edits: this.#locator.located(originalEdits(input, edits)) } : undefined,
      ),
    );
    // What a monitoring scanner did not read must not make the text incomplete.
    if (!monitors) addCheckCoverage(this.#result.coverage, coverage);
    this.#apply(edits, monitors);
    if (scanner.sanitizes) this.#options.onRewritten?.(name, this.#inputOf(monitors).snapshot());
  }

  #textInReview({ probability = 0 }: Verdict): TextInReview {
    return { text: this.#text.original, source: this.#source, probability };
  }

  #locatedException(input: EditedText, applied: AppliedException): AppliedException {
    const findings = this.#locator.located(originalFindings(input, applied.findings));
    return Object.assign({}, applied, { findings });
  }

  #apply(edits: readonly Edit[], monitors: boolean): void {
    if (!monitors) this.#text.apply(edits);
    else if (edits.length > 0) {
      this.#intended ??= this.#text.snapshot();
      this.#intended.apply(edits);
    }
  }
}

/** The field of checks and runs that only monitor. */
const MONITOR = { mode: "monitor" } as const;

/** A scanner after a rewriting one reads another text. Text that it did not scan counts as unscanned in the original. */
function originalCoverage(input: EditedText, coverage: Coverage): Coverage {
  const { length } = input.original;
  if (coverage.chars === length) return coverage;
  const unscanned = coverage.chars - coverage.scannedChars;
  return Object.assign({}, coverage, { chars: length, scannedChars: Math.max(0, length - unscanned) });
}

function originalFindings(input: EditedText, findings: Finding[]): Finding[] {
  if (input.edits.length === 0 || findings.length === 0) return findings;
  return input.originalSpans(findings).map((span, index) => {
    const finding: Finding = Object.assign({}, findings[index], span);
    // A finding in a decoded view is not in the original text.
    if (finding.text !== undefined && finding.view === undefined) {
      finding.text = input.original.slice(span.start, span.end);
    }
    return finding;
  });
}

function originalEdits(input: EditedText, edits: readonly Edit[]): readonly Edit[] {
  if (input.edits.length === 0) return edits;
  return input.originalSpans(edits).map((span, index) => Object.assign({}, edits[index], span));
}

/** Returns the texts that a text consists of, with their places in the rewritten text. A text that was rewritten across a border is left out. */
function partsOf(
  joined: readonly JoinedText[] | undefined,
  current: MessageText | undefined,
  original: string,
  edits: readonly Edit[],
): PartText[] {
  if (joined) {
    let start = 0;
    return joined.map(({ text, original }) => {
      const part = { start, end: start + text.length, original };
      start = part.end + 1;
      return part;
    });
  }
  if (!current || current.text !== original) return [];
  const moved = (offset: number) => {
    let shift = 0;
    for (const { start, end, replacement } of edits) {
      if (start < offset && offset < end) return undefined;
      if (end <= offset) shift += replacement.length - (end - start);
    }
    return offset + shift;
  };
  return current.pieces.flatMap(({ start, end }) => {
    const [from, to] = [moved(start), moved(end)];
    return from === undefined || to === undefined
      ? []
      : [{ start: from, end: to, original: original.slice(start, end) }];
  });
}

function outcomeOf({ isValid }: Verdict, hasThrown: boolean, isRewritten: () => boolean): CheckOutcome {
  if (hasThrown) return "error";
  if (isValid) return "passed";
  return isRewritten() ? "rewritten" : "flagged";
}

/** Whether exceptions can change a verdict: it fails the text, or asks for a review. */
function mayBeExcepted(scanner: Scanner, verdict: Verdict): boolean {
  return !verdict.isValid || needsReview(scanner, verdict);
}

/** Returns a verdict that fails if the text needs a review. */
function failingInReview(scanner: Scanner, verdict: Verdict): Verdict {
  return needsReview(scanner, verdict) ? Object.assign({}, verdict, { isValid: false }) : verdict;
}

/** Returns the verdict for a scanner that threw. */
function failedVerdict(text: string): Verdict {
  return { isValid: false, score: FAILED, findings: [], coverage: notScanned(text) };
}

/** Splits a list, in order, into groups of scanners that may run concurrently. */
function groupsOf(scanners: readonly NamedScanner[]): NamedScanner[][] {
  const groups: NamedScanner[][] = [];
  let open: NamedScanner[] | undefined;
  for (const item of scanners) {
    if (open && !item.scanner.sanitizes) {
      open.push(item);
      continue;
    }
    const group = [item];
    groups.push(group);
    open = item.scanner.sanitizes ? undefined : group;
  }
  return groups;
}
