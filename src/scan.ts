import { setMaxListeners } from "node:events";
import { GuardValidationError, ScannerError } from "./errors.ts";
import { AnswerCache } from "./models/answer-cache.ts";
import type { EngineTimings } from "./native.ts";
import { isReservedName, RESERVED_NAME } from "./result-names.ts";
import type { Coverage, Finding, ScanContext, Scanner, Verdict } from "./scanner.ts";
import { FAILED } from "./scanners/score.ts";
import { inUnit, lengthIn, type OffsetUnit } from "./text/offsets.ts";
import { checkScanOptions } from "./validation/scan-options.ts";
import { Vault } from "./vault.ts";

/** How a list of scanners is run. */
export interface ScanOptions {
  /** Stop after the first failing scanner; those behind it in the list have no result then. Default false. */
  failFast?: boolean;
  /** Scanners to leave out, by type or by name in results. */
  suppress?: readonly string[];
  /**
   * What a scanner that throws means: `throw` rejects the call with a {@link ScannerError} (the default), `block` makes the
   * text invalid with a score of 1 for that scanner. A broken check is never a pass.
   */
  onScannerError?: "throw" | "block";
  /** Unit of the offsets in findings and of the lengths in coverage. Default `utf16`, the code units of JavaScript. */
  offsets?: OffsetUnit;
  /**
   * Where the scanners of this call keep the originals of what they replace, and find them to restore: pass to
   * {@link scanOutput} what {@link scanPrompt} filled. A scanner's own vault comes before it. Without one, what is replaced
   * cannot be restored. Never share a vault between callers.
   */
  vault?: Vault;
  /** Aborts the scan. */
  signal?: AbortSignal;
}

/** What a whole scan looked at. */
export interface ScanCoverage extends Coverage {
  /** Parts of messages that no scanner can read, such as images. */
  partsSkipped: number;
  /** Names of scanners that were left out by request. */
  suppressed: string[];
  /** Names of scanners that threw, under `onScannerError: "block"`. */
  failed: string[];
}

/** What several scanners say of a text, by their names in results and in the order of the list. */
export interface ScanReport {
  isValid: boolean;
  resultsValid: Record<string, boolean>;
  /** Risk scores: below 0 passes, above 0 fails. */
  resultsScore: Record<string, number>;
  /** Probabilities, 0..1, of the scanners whose verdict rests on one: what their thresholds were compared with. */
  probabilities: Record<string, number>;
  findings: Record<string, Finding[]>;
  /** Milliseconds that each scanner took. */
  timing: Record<string, number>;
  /**
   * Where the time of each model went, in milliseconds, added up over the texts that it was asked about in this call: waiting,
   * making tokens, inference. Scanners that share an answer share its times. Texts that were answered side by side make it more
   * than the time that passed.
   */
  engineTiming: Record<string, EngineTimings>;
  coverage: ScanCoverage;
}

export interface PromptReport extends ScanReport {
  sanitizedPrompt: string;
}

export interface OutputReport extends ScanReport {
  sanitizedOutput: string;
}

/**
 * Runs input scanners over a prompt.
 *
 * Scanners that may change the text run in the listed order, each on what the one before made of it; the others between
 * two of them run at the same time.
 *
 * @throws GuardValidationError for arguments of another type, ScannerError when a scanner throws; the signal's reason when it is
 *   aborted.
 */
export async function scanPrompt(
  scanners: readonly Scanner[],
  prompt: string,
  options: ScanOptions = {},
): Promise<PromptReport> {
  checkTexts({ prompt });
  checkScanOptions(options);
  const { text, ...report } = await runScanners(nameScanners(scanners), prompt, {}, options);
  return { sanitizedPrompt: text, ...report };
}

/**
 * Runs output scanners over a model's output, which answers `prompt`. Otherwise like {@link scanPrompt}.
 *
 * @throws GuardValidationError for arguments of another type, ScannerError when a scanner throws; the signal's reason when it is
 *   aborted.
 */
export async function scanOutput(
  scanners: readonly Scanner[],
  prompt: string,
  output: string,
  options: ScanOptions = {},
): Promise<OutputReport> {
  checkTexts({ prompt, output });
  checkScanOptions(options);
  const { text, ...report } = await runScanners(nameScanners(scanners), output, { prompt }, options);
  return { sanitizedOutput: text, ...report };
}

/** Scanners check what they are given, but there may be none, and not every one of them looks at the prompt. */
function checkTexts(texts: Record<string, unknown>): void {
  const issues = Object.entries(texts).flatMap(([path, text]) =>
    typeof text === "string" ? [] : [{ path, message: `expected a string, got ${typeof text}` }],
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** A scanner and its name in results. */
export interface NamedScanner {
  name: string;
  scanner: Scanner;
}

/**
 * Gives every scanner a name of its own: the second `Regex` of a list becomes `Regex#2`.
 *
 * @param path where the list stands, for errors.
 * @throws GuardValidationError for what is no list of scanners, and for a name that checks of a conversation have.
 */
export function nameScanners(scanners: readonly Scanner[], path = "scanners"): NamedScanner[] {
  if (!Array.isArray(scanners)) throw new GuardValidationError([{ path, message: "expected an array of scanners" }]);
  const issues = scanners.flatMap((scanner: Scanner | null | undefined, index) => {
    const name: unknown = scanner?.name;
    if (typeof name === "string" && !isReservedName(name)) return [];
    const message = typeof name === "string" ? RESERVED_NAME : "expected the name of a scanner, a string";
    return [{ path: `${path}.${index}.name`, message }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
  const taken = new Set<string>();
  return scanners.map((scanner) => {
    let name = scanner.name;
    for (let count = 2; taken.has(name); count++) name = `${scanner.name}#${count}`;
    taken.add(name);
    return { name, scanner };
  });
}

/**
 * What to leave out, as a set: a request may name as much as its body holds, and every scanner of every text looks itself up.
 *
 * @throws GuardValidationError for what is no list.
 */
export function suppressedNames(suppress: RunOptions["suppress"] = []): ReadonlySet<string> {
  if (suppress instanceof Set) return suppress;
  if (!Array.isArray(suppress)) {
    throw new GuardValidationError([{ path: "suppress", message: "expected an array of names" }]);
  }
  return new Set(suppress);
}

/** Whether suppressed names leave a scanner out; `suffix` is that of the check, such as `[window]`. */
export function isSuppressed({ name, scanner }: NamedScanner, suppressed: ReadonlySet<string>, suffix = ""): boolean {
  return [name, scanner.type].some((known) => suppressed.has(known) || suppressed.has(known + suffix));
}

/** How {@link runScanners} treats the text and its results. */
export interface RunOptions extends Omit<ScanOptions, "suppress"> {
  /** Scanners to leave out, by type or by name in results. Whoever runs over several texts makes {@link suppressedNames} once. */
  suppress?: readonly string[] | ReadonlySet<string>;
  /**
   * `true` (default): sanitized texts are handed on. `false`: all scanners see the original, at the same time, and a copy of the
   * vault, since placeholders that nobody gets must not be in it.
   */
  rewrite?: boolean;
  /** Appended to every name in results. */
  suffix?: string;
}

/** Runs named scanners over a text; `text` of the result is the sanitized one. */
export async function runScanners(
  scanners: readonly NamedScanner[],
  text: string,
  context: ScanContext,
  options: RunOptions = {},
): Promise<ScanReport & { text: string }> {
  const { failFast = false, onScannerError = "throw", signal, rewrite = true, suffix = "" } = options;
  const { offsets = "utf16" } = options;
  const suppressed = suppressedNames(options.suppress);
  const vault = vaultFor(options);
  const answers = context.answers ?? new AnswerCache();
  const report = emptyReport();
  report.coverage.chars = lengthIn(offsets, text);
  report.coverage.suppressed = scanners
    .filter((item) => isSuppressed(item, suppressed, suffix))
    .map(({ name }) => name + suffix);
  const chosen = scanners.filter((item) => !isSuppressed(item, suppressed, suffix));
  report.coverage.scannedChars = chosen.length > 0 ? report.coverage.chars : 0;
  const { signal: running, stop } = ownSignal(signal);

  const runOne = async ({ name, scanner }: NamedScanner, input: string) => {
    const start = performance.now();
    try {
      const verdict = inUnit(
        offsets,
        input,
        checked(await scanner.scan(input, { ...context, ...vault, answers, signal: running })),
      );
      // Some scanners do not listen.
      running.throwIfAborted();
      return { verdict, milliseconds: performance.now() - start };
    } catch (error) {
      if (running.aborted) throw running.reason;
      if (onScannerError === "throw") throw new ScannerError(name + suffix, error);
      report.coverage.failed.push(name + suffix);
      const verdict = inUnit(offsets, input, { isValid: false, score: FAILED, findings: [], coverage: unread(input) });
      return { verdict, milliseconds: performance.now() - start };
    }
  };

  let current = text;
  try {
    for (const group of rewrite ? groups(chosen) : [chosen]) {
      signal?.throwIfAborted();
      const runs = group.map((item) => runOne(item, current));
      // Each run is awaited below; one that rejects meanwhile must not count as unhandled.
      for (const run of runs) run.catch(() => {});
      // Whoever throws ends the scan at once. With failFast the order of the list decides, not who is the fastest: a scanner
      // that fails or throws ends the scan when those before it have ended.
      if (!failFast) await Promise.all(runs);
      for (const [index, run] of runs.entries()) {
        const name = (group[index] as NamedScanner).name + suffix;
        const { verdict, milliseconds } = await run;
        addVerdict(report, name, verdict, milliseconds);
        if (rewrite && verdict.sanitized !== undefined) current = verdict.sanitized;
        if (failFast && !verdict.isValid) return { ...report, engineTiming: answers.timings, text: current };
      }
    }
  } finally {
    stop();
  }
  return { ...report, engineTiming: answers.timings, text: current };
}

/**
 * A signal of a call's own: aborted with that of its caller, and by `stop`, for the end of the call, so that nothing of it runs
 * on when it ends early.
 */
export function ownSignal(outer: AbortSignal | undefined): { signal: AbortSignal; stop: () => void } {
  const own = new AbortController();
  // Every scanner may listen, and there may be many.
  setMaxListeners(0, own.signal);
  // Not AbortSignal.any: with a signal that lives long it would keep something of every scan.
  const onAbort = () => own.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });
  const stop = () => {
    outer?.removeEventListener("abort", onAbort);
    own.abort();
  };
  return { signal: own.signal, stop };
}

/** A report of nothing; everything that was not checked is valid. */
export function emptyReport(): ScanReport {
  const coverage = {
    chars: 0,
    scannedChars: 0,
    truncated: false,
    windows: 0,
    partsSkipped: 0,
    suppressed: [],
    failed: [],
  };
  return {
    isValid: true,
    resultsValid: {},
    resultsScore: {},
    probabilities: {},
    findings: {},
    timing: {},
    engineTiming: {},
    coverage,
  };
}

/** Adds the verdict of one scanner to a report on the same text. */
export function addVerdict(report: ScanReport, name: string, verdict: Verdict, milliseconds: number): void {
  report.isValid &&= verdict.isValid;
  report.resultsValid[name] = verdict.isValid;
  report.resultsScore[name] = verdict.score;
  if (verdict.probability !== undefined) report.probabilities[name] = verdict.probability;
  report.findings[name] = verdict.findings;
  report.timing[name] = milliseconds;
  const { coverage } = report;
  // A scanner behind a sanitizing one sees another text: what counts is how much it left out of that one.
  const unscanned = verdict.coverage.chars - verdict.coverage.scannedChars;
  coverage.scannedChars = Math.max(0, Math.min(coverage.scannedChars, coverage.chars - unscanned));
  coverage.truncated ||= verdict.coverage.truncated;
  coverage.windows = Math.max(coverage.windows, verdict.coverage.windows);
}

/** Runs of scanners that may go on at the same time, in the order of the list. */
function groups(scanners: readonly NamedScanner[]): NamedScanner[][] {
  const result: NamedScanner[][] = [];
  let open: NamedScanner[] | undefined;
  for (const item of scanners) {
    if (item.scanner.sanitizes) {
      result.push([item]);
      open = undefined;
    } else if (open) {
      open.push(item);
    } else {
      open = [item];
      result.push(open);
    }
  }
  return result;
}

/** The vault that scanners are given, as a part of their context. */
function vaultFor({ vault, rewrite = true }: RunOptions): Pick<ScanContext, "vault"> {
  if (vault === undefined) return {};
  if (!(vault instanceof Vault)) throw new GuardValidationError([{ path: "vault", message: "expected a Vault" }]);
  return { vault: rewrite ? vault : new Vault(vault.entries()) };
}

function unread(text: string): Coverage {
  return { chars: text.length, scannedChars: 0, truncated: text.length > 0, windows: 0 };
}

/** A scanner of somebody else's may return anything; what is not a verdict must not be taken for a pass. */
function checked(verdict: Verdict): Verdict {
  const fine =
    typeof verdict?.isValid === "boolean" &&
    Number.isFinite(verdict.score) &&
    (verdict.probability === undefined || (verdict.probability >= 0 && verdict.probability <= 1)) &&
    (verdict.sanitized === undefined || typeof verdict.sanitized === "string") &&
    Array.isArray(verdict.findings) &&
    Number.isFinite(verdict.coverage?.chars) &&
    Number.isFinite(verdict.coverage?.scannedChars);
  if (!fine) throw new TypeError("its result is not a verdict ({ isValid, score, findings, coverage })");
  return verdict;
}
