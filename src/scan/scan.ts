import { readConversation } from "../messages/read.ts";
import { AnswerCache } from "../models/call-context.ts";
import type { EngineTimings } from "../native.ts";
import { errorKind, GuardValidationError, ScannerError } from "../support/errors.ts";
import { isPromise } from "../support/maybe-async.ts";
import { ENDED, Stop } from "../support/stop.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { ChatRequest } from "./chat-request.ts";
import { checkedVerdict } from "./checked-verdict.ts";
import { applyEdits } from "./edits.ts";
import { addOmitted, bounded } from "./findings.ts";
import { type ScanObserver, summaryOf } from "./observer.ts";
import { placed } from "./pieces.ts";
import { isReservedName, RESERVED_NAME } from "./result-names.ts";
import { checkScanOptions } from "./scan-options.ts";
import {
  answersAtOnce,
  type Coverage,
  type Finding,
  type ScanContext,
  type Scanner,
  type ScannerVerdict,
  scanAtOnce,
  type Verdict,
} from "./scanner.ts";
import { FAILED } from "./score.ts";
import type { Source } from "./source.ts";
import { Vault } from "./vault.ts";
import type { VerdictCache } from "./verdict-cache.ts";
import { verdictInUnit } from "./verdict-units.ts";

/** The options that say how a list of scanners is run. */
export interface ScanOptions {
  /**
   * Whether the scan stops after the first scanner that fails. Scanners behind it in the list then have no result. The default is
   * false.
   */
  failFast?: boolean;
  /** The scanners to leave out, by their types or by their names in results. */
  suppress?: readonly string[];
  /**
   * What happens when a scanner throws. `throw` (the default) rejects the call with a {@link ScannerError}. `block` makes the text
   * invalid, with a score of 1 for that scanner. A scanner that throws never counts as a pass.
   */
  onScannerError?: "throw" | "block";
  /** The unit of the offsets in findings and of the lengths in coverage. The default is `utf16`, the code units of JavaScript. */
  offsets?: OffsetUnit;
  /**
   * The vault in which the scanners of this call keep the originals of what they replace, and from which they restore them. Pass
   * the vault that {@link scanPrompt} filled to {@link scanOutput}. A scanner that has a vault of its own uses that one instead.
   * Without any vault, replaced values cannot be restored. Never share a vault between callers.
   */
  vault?: Vault;
  /** Where the text comes from. The default is `user` for prompts and `assistant` for outputs. */
  source?: Source;
  /**
   * The conversation that the text belongs to: for an output, the one that it answers. Some scanners compare with it, such as those
   * that look for the system prompt in an answer.
   */
  conversation?: ChatRequest;
  /** Aborts the scan. */
  signal?: AbortSignal;
  /** Is told of every scanner that begins and ends, and of the models that it asks. */
  observer?: ScanObserver;
}

/** How much a whole scan looked at. */
export interface ScanCoverage extends Omit<Coverage, "untrainedLanguages" | "findingsOmitted"> {
  /** The number of message parts that no scanner can read, such as images. */
  partsSkipped: number;
  /** The names of the scanners that were left out by request. */
  suppressed: string[];
  /** The names of the scanners that threw, under `onScannerError: "block"`. */
  failed: string[];
  /**
   * The languages that a scanner could not judge, by the name of the scanner: its model was neither trained nor measured in them, so
   * that it left these parts out. They are ISO 639-1 codes, or `und-` and a script.
   */
  untrainedLanguage: Record<string, string[]>;
  /** How many findings of a scanner there are besides the 1,000 that a report tells of it at most. Scanners without such are absent. */
  findingsOmitted: Record<string, number>;
  /**
   * How much text of each source no scanner looked at, in a conversation. Texts that nobody is to look at, because the caller has
   * turned their check off, do not count.
   */
  unscannedSources: Partial<Record<Source, number>>;
}

/** The results of several scanners for a text, by their names and in the order of the list. */
export interface ScanReport {
  isValid: boolean;
  resultsValid: Record<string, boolean>;
  /** Risk scores. A score below 0 means that the text passes, and a score above 0 that it fails. */
  resultsScore: Record<string, number>;
  /**
   * The probabilities, 0..1, that the thresholds were compared with. Only scanners whose verdict rests on a probability have one.
   */
  probabilities: Record<string, number>;
  findings: Record<string, Finding[]>;
  /** The names of the checks that failed and may rewrite texts, but left a text as it was. It is absent when there are none. */
  unchanged?: string[];
  /** The milliseconds that each scanner took. */
  timing: Record<string, number>;
  /**
   * How long each model spent on waiting, on making tokens and on inference, in milliseconds. The times are added up over the texts
   * that the model was asked about in this call. Scanners that share an answer share its times. When texts are answered side by
   * side, the sum is more than the time that passed.
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
 * Scanners that may change the text run in the listed order, and each gets the text that the one before it returned. The scanners
 * between two of them run at the same time.
 *
 * @throws GuardValidationError for arguments of the wrong type, ScannerError when a scanner throws, and the signal's reason when
 *   the signal is aborted.
 */
export async function scanPrompt(
  scanners: readonly Scanner[],
  prompt: string,
  options: ScanOptions = {},
): Promise<PromptReport> {
  checkTexts({ prompt });
  checkScanOptions(options);
  const context = { source: options.source ?? "user", ...conversationContext(options) };
  const { text, ...report } = await runScanners(nameScanners(scanners), prompt, context, options);
  return { sanitizedPrompt: text, ...report };
}

/**
 * Runs output scanners over a model's output, which answers `prompt`. Otherwise it works like {@link scanPrompt}.
 *
 * @throws GuardValidationError for arguments of the wrong type, ScannerError when a scanner throws, and the signal's reason when
 *   the signal is aborted.
 */
export async function scanOutput(
  scanners: readonly Scanner[],
  prompt: string,
  output: string,
  options: ScanOptions = {},
): Promise<OutputReport> {
  checkTexts({ prompt, output });
  checkScanOptions(options);
  const context = { prompt, source: options.source ?? "assistant", ...conversationContext(options) };
  const { text, ...report } = await runScanners(nameScanners(scanners), output, context, options);
  return { sanitizedOutput: text, ...report };
}

/** Returns the part of the scanners' context that holds the conversation. */
export function conversationContext({
  conversation,
}: Pick<ScanOptions, "conversation">): Pick<ScanContext, "conversation"> {
  return conversation ? { conversation: { texts: readConversation(conversation).texts } } : {};
}

/**
 * Checks that the texts are strings. Scanners check their text too, but the list may be empty, and not every scanner reads the
 * prompt.
 */
function checkTexts(texts: Record<string, unknown>): void {
  const wrong = Object.keys(texts).filter((path) => typeof texts[path] !== "string");
  if (wrong.length === 0) return;
  throw new GuardValidationError(
    wrong.map((path) => ({ path, message: `expected a string, got ${typeof texts[path]}` })),
  );
}

/** A scanner and its name in results. */
export interface NamedScanner {
  name: string;
  scanner: Scanner;
}

/**
 * Gives every scanner a unique name: the second `Regex` of a list becomes `Regex#2`.
 *
 * @param path the path of the list, for errors.
 * @throws GuardValidationError when the value is not a list of scanners, and for a name that
 *   {@link isReservedName} rejects.
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
 * Returns the names to leave out as a set. A request may name as many scanners as fit into its body, and every scanner looks itself
 * up for every text, so the look-up has to be fast.
 *
 * @throws GuardValidationError when the value is not a list.
 */
export function suppressedNames(suppress: RunOptions["suppress"] = []): ReadonlySet<string> {
  if (suppress instanceof Set) return suppress;
  if (!Array.isArray(suppress)) {
    throw new GuardValidationError([{ path: "suppress", message: "expected an array of names" }]);
  }
  return new Set(suppress);
}

/**
 * Tells whether the suppressed names leave a scanner out. `suffix` is the suffix that the check adds to names, such as `[window]`.
 */
export function isSuppressed({ name, scanner }: NamedScanner, suppressed: ReadonlySet<string>, suffix = ""): boolean {
  return [name, scanner.type].some((known) => suppressed.has(known) || suppressed.has(known + suffix));
}

/** How {@link runScanners} treats the text and its results. */
export interface RunOptions extends Omit<ScanOptions, "suppress" | "source" | "conversation"> {
  /**
   * The scanners to leave out, by their types or by their names in results. A caller that scans several texts calls
   * {@link suppressedNames} once and passes the set.
   */
  suppress?: readonly string[] | ReadonlySet<string>;
  /**
   * With `true` (the default), each scanner gets the text that the sanitizing scanners before it returned. With `false`, all
   * scanners see the original text, at the same time. They then get a copy of the vault, because placeholders that no caller
   * receives must not be in the vault itself.
   */
  rewrite?: boolean;
  /** A suffix that is appended to every name in results. */
  suffix?: string;
  /** Keeps verdicts. What it has is not computed again. */
  verdicts?: VerdictCache;
  /** Stops this call. It takes the place of `signal` where the caller stops it too when the call ends early. */
  stop?: Stop | undefined;
  /** Is given the work of every scanner as it begins. It may go on after the call was aborted, when a scanner ignores the signal. */
  onWork?(work: Promise<unknown>): void;
}

/** What one scanner said, and how long it took. */
interface Ran {
  verdict: Verdict;
  milliseconds: number;
}

/** Runs named scanners over a text. The `text` of the result is the sanitized text. */
export async function runScanners(
  scanners: readonly NamedScanner[],
  text: string,
  context: ScanContext,
  options: RunOptions = {},
): Promise<ScanReport & { text: string }> {
  const { failFast = false, onScannerError = "throw", signal, rewrite = true, suffix = "" } = options;
  const { offsets = "utf16", observer } = options;
  const suppressed = suppressedNames(options.suppress);
  const vault = vaultFor(options);
  const { source = "user" } = context;
  const place = context.conversation?.current;
  const report = emptyReport();
  report.coverage.chars = lengthIn(offsets, text);
  let chosen = scanners;
  if (suppressed.size > 0) {
    chosen = scanners.filter((item) => !isSuppressed(item, suppressed, suffix));
    report.coverage.suppressed = scanners.filter((item) => !chosen.includes(item)).map(({ name }) => name + suffix);
  }
  report.coverage.scannedChars = chosen.length > 0 ? report.coverage.chars : 0;

  /** Says where findings are, in the unit of the caller. */
  const shown = (input: string, verdict: Verdict): Verdict => {
    const counted = verdictInUnit(offsets, input, verdict);
    return place ? { ...counted, findings: placed(counted.findings, input, place, offsets) } : counted;
  };

  const add = ({ name, scanner }: NamedScanner, input: string, verdict: Verdict, milliseconds: number) => {
    addVerdict(report, name + suffix, verdict, milliseconds);
    const isChanged = rewrite && applyEdits(input, verdict.edits ?? []) !== input;
    if (!verdict.isValid && scanner.sanitizes && !isChanged) addUnchanged(report, [name + suffix]);
  };
  const tellKept = (item: NamedScanner, input: string, verdict: Verdict) => add(item, input, shown(input, verdict), 0);
  const kept = options.verdicts && keptText(chosen, text, source, { ...options, ...vault }, tellKept);
  if (kept !== undefined) return { text: kept, ...report };
  const answers = (context.answers ?? new AnswerCache()).forText(
    chosen.flatMap(({ scanner }) => scanner.asks?.(source) ?? []),
  );
  const runs = rewrite ? groups(chosen) : [chosen];
  // Nothing can become superfluous while it runs: there is no signal of the caller, and no scanner beside another one.
  const isAlone = !signal && !options.stop && runs.every(({ length }) => length === 1);
  let own = options.stop;
  let leave: (() => void) | undefined;
  let isOver = false;
  /** What stops this call. Where the caller gave only a signal, it is made when something has to be waited for. */
  const stopping = (): Stop => {
    if (own) return own;
    own = new Stop();
    if (isOver) own.abort(ENDED);
    else leave = signal && own.follow(signal);
    return own;
  };
  /** Adds the signal of this call. Who answers at once hardly ever needs it; anybody else may copy the context, and gets it as it is. */
  const signalled = (scanner: Scanner, given: ScanContext): ScanContext => {
    if (isAlone) return given;
    const signal = () => stopping().signal;
    return answersAtOnce(scanner) ? new LateContext(given, signal) : Object.assign(given, { signal: signal() });
  };
  let running = 0;
  const ended = () => {
    running--;
  };

  const runOne = ({ name, scanner }: NamedScanner, input: string): Ran | Promise<Ran> => {
    const kept = options.verdicts?.get(scanner, input, source, vault.vault);
    if (kept) return { verdict: shown(input, kept), milliseconds: 0 };
    const before = options.verdicts ? (vault.vault?.entries() ?? []) : [];
    const start = performance.now();
    const observed = observer?.scannerStarted({ name: name + suffix, type: scanner.type, chars: input.length });
    const asking = observed ? answers.forScanner(observed) : answers;
    const checked = (answer: ScannerVerdict) => bounded(checkedVerdict(input, answer));
    const done = (told: Verdict): Ran => {
      options.verdicts?.set(scanner, input, source, told, { before, ...vault });
      const verdict = shown(input, told);
      const milliseconds = performance.now() - start;
      observed?.ended({ milliseconds, verdict: summaryOf(verdict) });
      return { verdict, milliseconds };
    };
    const waited = async (work: Promise<ScannerVerdict>): Promise<Ran> => {
      const stop = isAlone ? undefined : stopping();
      let told: Verdict;
      try {
        if (stop) {
          running++;
          work.then(ended, ended);
        }
        options.onWork?.(work);
        // A scanner may ignore the signal. Nobody waits for it then, and what it answers later is not looked at.
        told = checked(await (stop ? stop.race(work) : work));
        stop?.throwIfAborted();
      } catch (error) {
        const reason = stop?.aborted ? stop.reason : error;
        observed?.ended({ milliseconds: performance.now() - start, error: errorKind(reason) });
        if (stop?.aborted) throw reason;
        if (onScannerError === "throw") throw new ScannerError(name + suffix, error);
        report.coverage.failed.push(name + suffix);
        const failing = verdictInUnit(offsets, input, {
          isValid: false,
          score: FAILED,
          findings: [],
          coverage: unread(input),
        });
        return { verdict: failing, milliseconds: performance.now() - start };
      }
      return done(told);
    };
    const given = signalled(scanner, Object.assign({}, context, vault, { answers: asking }));
    let answer: Verdict | Promise<ScannerVerdict>;
    try {
      answer = scanAtOnce(scanner, input, given);
      if (!isPromise(answer)) answer = checked(answer);
    } catch (error) {
      answer = Promise.reject(error);
    }
    return isPromise(answer) ? waited(answer) : done(answer);
  };

  let current = text;
  try {
    scan: for (const group of runs) {
      signal?.throwIfAborted();
      own?.throwIfAborted();
      const input = current;
      const results = group.map((item) => {
        const result = runOne(item, input);
        // Each result is awaited below. One that rejects before that must not count as an unhandled rejection.
        if (isPromise(result)) result.catch(() => {});
        return result;
      });
      const waiting = results.filter(isPromise);
      if (waiting.length > 0 && results.length > 1) {
        // Without failFast, a scanner that throws ends the scan at once. With failFast the order of the list decides and not which
        // scanner is fastest: a scanner that fails or throws ends the scan only when those before it have ended.
        if (!failFast) await Promise.all(waiting);
      }
      for (const [index, result] of results.entries()) {
        const { verdict, milliseconds } = isPromise(result) ? await result : result;
        add(group[index] as NamedScanner, input, verdict, milliseconds);
        if (rewrite && verdict.edits) current = applyEdits(current, verdict.edits);
        if (failFast && !verdict.isValid) break scan;
      }
    }
  } finally {
    isOver = true;
    leave?.();
    // Aborting takes longer than a short text does, even if nobody listens. What the caller gave, the caller stops.
    if (running > 0 && !options.stop) own?.abort(ENDED);
  }
  report.engineTiming = answers.timings;
  return { text: current, ...report };
}

/**
 * Tells the verdicts of all scanners where every one of them is kept. Nearly all texts of a long conversation are known, and this
 * takes a small part of the time that a scan takes which only looks them up.
 *
 * @param tell is called for every scanner, in the order of the list, when all verdicts are there.
 * @returns the sanitized text; undefined when a scanner has to be asked.
 */
function keptText(
  scanners: readonly NamedScanner[],
  text: string,
  source: Source,
  { verdicts, vault, rewrite = true, failFast = false, signal }: RunOptions,
  tell: (item: NamedScanner, input: string, verdict: Verdict) => void,
): string | undefined {
  if (!verdicts || scanners.length === 0 || signal?.aborted) return undefined;
  const told: [NamedScanner, string, Verdict][] = [];
  let current = text;
  for (const item of scanners) {
    const verdict = verdicts.get(item.scanner, current, source, vault);
    if (!verdict) return undefined;
    told.push([item, current, verdict]);
    if (rewrite && verdict.edits) current = applyEdits(current, verdict.edits);
    if (failFast && !verdict.isValid) break;
  }
  for (const of of told) tell(...of);
  return current;
}

/** A context whose signal is made when somebody reads it. */
class LateContext {
  #signal: AbortSignal | undefined;
  readonly #make: () => AbortSignal;

  constructor(context: ScanContext, make: () => AbortSignal) {
    Object.assign(this, context);
    this.#make = make;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#make();
    return this.#signal;
  }
}

/**
 * Makes a signal for one call. It is aborted together with the caller's signal, and by `stop` at the end of the call, so that nothing goes
 * on when the call ends early.
 */
export function ownSignal(outer: AbortSignal | undefined): { signal: AbortSignal; stop(): void } {
  const own = new Stop();
  // AbortSignal.any is not used here: a long-lived signal would keep something in memory for every scan.
  const leave = outer && own.follow(outer);
  const stop = () => {
    leave?.();
    own.abort(ENDED);
  };
  return { signal: own.signal, stop };
}

/** Returns a report without results. It is valid, because nothing has failed yet. */
export function emptyReport(): ScanReport {
  const coverage = {
    chars: 0,
    scannedChars: 0,
    truncated: false,
    windows: 0,
    partsSkipped: 0,
    suppressed: [],
    failed: [],
    untrainedLanguage: {},
    findingsOmitted: {},
    unscannedSources: {},
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

/** Adds names to those of the checks that left a text as it was. */
export function addUnchanged(report: ScanReport, names: readonly string[] = []): void {
  if (names.length > 0) report.unchanged = [...new Set([...(report.unchanged ?? []), ...names])];
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
  // A scanner behind a sanitizing scanner sees another text. What counts is therefore how much of its own text it left out.
  const unscanned = verdict.coverage.chars - verdict.coverage.scannedChars;
  coverage.scannedChars = Math.max(0, Math.min(coverage.scannedChars, coverage.chars - unscanned));
  coverage.truncated ||= verdict.coverage.truncated;
  coverage.windows = Math.max(coverage.windows, verdict.coverage.windows);
  addOmitted(coverage.findingsOmitted, name, verdict.coverage.findingsOmitted ?? 0);
  if (verdict.coverage.untrainedLanguages) coverage.untrainedLanguage[name] = verdict.coverage.untrainedLanguages;
}

/** Splits the list, in its order, into groups of scanners that may run at the same time. */
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

/** Returns the part of the scanners' context that holds the vault. */
function vaultFor({ vault, rewrite = true }: RunOptions): Pick<ScanContext, "vault"> {
  if (vault === undefined) return {};
  if (!(vault instanceof Vault)) throw new GuardValidationError([{ path: "vault", message: "expected a Vault" }]);
  return { vault: rewrite ? vault : new Vault(vault.entries()) };
}

function unread(text: string): Coverage {
  return { chars: text.length, scannedChars: 0, truncated: text.length > 0, windows: 0 };
}
