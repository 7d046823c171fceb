import pLimit from "p-limit";
import { judgementOf, maskText, type Judgement as PartJudgement } from "../documents/masking.ts";
import type { Abortable } from "../native.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { type Outcome, replacesValues } from "../scan/outcome.ts";
import { sourceSuffix } from "../scan/result-names.ts";
import { type NamedScanner, nameScanners, runScanners, type ScanReport } from "../scan/scan.ts";
import type { Finding, Scanner } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { Vault } from "../scan/vault.ts";
import { unscannedReasons } from "../service/service.ts";
import { GuardError, ScannerError } from "../support/errors.ts";

/** How many strings of a text are judged at the same time. More would only fill the queues of models. */
const PARALLEL = 8;

/** The scanners that read texts of a source. */
export type ScannersBySource = Partial<Record<Source, readonly Scanner[]>>;

/** What is the same for all texts of a session. */
export interface JudgeOptions {
  /** The most seconds that the scan of one text may take. Default 30. */
  timeout?: number;
  /** Whether a text fails when a part of it was not looked at, such as an image. Default false. */
  requireFullCoverage?: boolean;
  /** Is told why a text could not be checked. The reason quotes no text. */
  onError?: (reason: string) => void;
}

/** A finding without the text that was found. */
export type PlainFinding = Omit<Finding, "text">;

/** What is to be done with a text. */
export interface Judgement {
  /**
   * `passed`: it may go on, with {@link strings} in place of its own where they are there. `masked`: what failed was taken out, and the
   * rest may go on. `blocked`: nothing of it may go on.
   */
  outcome: Outcome;
  /** The names of the checks that failed. It is empty when the text could not be checked, or not as a whole. */
  failing: readonly string[];
  /** The risk scores of all checks. */
  scores: Readonly<Record<string, number>>;
  findings: Readonly<Record<string, readonly PlainFinding[]>>;
  /** Why a text is blocked although no check failed. */
  reason?: "error" | "coverage";
  /** The new strings of the text, one for each of its pieces. */
  strings?: readonly string[];
}

/** How one text is judged. */
export interface Judging {
  /** The texts of the session, in their order, for scanners that compare. The text itself stands behind them unless it is among them. */
  texts: readonly MessageText[];
  /** Whether what fails may be taken out, so that the rest goes on. Values that become placeholders are always replaced. */
  mask: boolean;
  signal: AbortSignal;
}

/** Says of each text of a session whether it may go on. All its texts share one vault, so that a value has one placeholder. */
export class Judge {
  readonly vault = new Vault();
  readonly #lists: ReadonlyMap<Source, readonly NamedScanner[]>;
  readonly #timeout: number;
  readonly #requireFullCoverage: boolean;
  readonly #onError: (reason: string) => void;

  /** @throws GuardValidationError for a scanner with a reserved name. */
  constructor(scanners: ScannersBySource, options: JudgeOptions = {}) {
    const entries = Object.entries(scanners) as [Source, readonly Scanner[]][];
    this.#lists = new Map(entries.map(([source, list]) => [source, nameScanners(list, `scanners.${source}`)]));
    this.#timeout = options.timeout ?? 30;
    this.#requireFullCoverage = options.requireFullCoverage ?? false;
    this.#onError = options.onError ?? (() => {});
  }

  /**
   * Judges a text. A text that cannot be checked is blocked.
   *
   * @returns rejected only with the reason of the signal.
   */
  async judge(text: MessageText, { texts, mask, signal }: Judging): Promise<Judgement> {
    const named = this.#lists.get(text.source) ?? [];
    if (named.length === 0) return { outcome: "passed", failing: [], scores: {}, findings: {} };
    const deadline = AbortSignal.timeout(this.#timeout * 1000);
    const ending = AbortSignal.any([signal, deadline]);
    const run = (scanners: readonly NamedScanner[], input: string, rewrite: boolean) =>
      runScanners(
        scanners,
        input,
        {
          source: text.source,
          conversation: { texts: texts.includes(text) ? texts : [...texts, text], current: text },
        },
        { rewrite, vault: this.vault, suffix: sourceSuffix(text.source), signal: ending },
      );
    try {
      return await this.#outcome(text, named, mask, { run, signal: ending });
    } catch (error) {
      signal.throwIfAborted();
      this.#onError(deadline.aborted ? `the scan took longer than ${this.#timeout} s` : reasonOf(error));
      return { outcome: "blocked", failing: [], scores: {}, findings: {}, reason: "error" };
    }
  }

  async #outcome(
    text: MessageText,
    named: readonly NamedScanner[],
    mask: boolean,
    {
      run,
      signal,
    }: {
      run(scanners: readonly NamedScanner[], input: string, rewrite: boolean): Promise<ScanReport & { text: string }>;
      signal: AbortSignal;
    },
  ): Promise<Judgement> {
    const suffix = sourceSuffix(text.source);
    const report = await run(named, text.text, true);
    report.coverage.partsSkipped += text.skipped;
    const failing = Object.keys(report.resultsValid).filter((name) => !report.resultsValid[name]);
    const seen = { failing, scores: report.resultsScore, findings: plainFindings(report, text) };
    const isIncomplete = this.#requireFullCoverage && unscannedReasons(report).length > 0;
    if (isIncomplete) return { outcome: "blocked", ...seen, ...(failing.length > 0 ? {} : { reason: "coverage" }) };

    const replaces = (name: string) =>
      named.some((item) => item.name + suffix === name && replacesValues(item.scanner));
    const hard = failing.filter((name) => !replaces(name));
    if (hard.length > 0 && !mask) return { outcome: "blocked", ...seen };
    const rewritten = report.text === text.text ? undefined : await split(report.text, text, named, run);
    const strings =
      hard.length > 0 ? await withoutAttacks(rewritten ?? stringsOf(text), named, run, { signal }) : rewritten;
    if (hard.length > 0) {
      // An answer without any text would tell an agent less than the reason why there is none.
      if (!strings || strings.every((string) => string.trim() === "")) return { outcome: "blocked", ...seen };
      // What is left has to pass all checks by itself. Placeholders, and values that stand for others, may look like those values.
      const rest = await run(
        named.filter(({ scanner }) => !replacesValues(scanner)),
        strings.join("\n"),
        false,
      );
      if (!rest.isValid) return { outcome: "blocked", ...seen };
    }
    return { outcome: failing.length > 0 ? "masked" : "passed", ...seen, ...(strings ? { strings } : {}) };
  }
}

/**
 * Cuts out of strings the statements by which they fail as attacks. An attack that only several strings together make stays: the
 * whole text then fails once more.
 */
async function withoutAttacks(
  strings: readonly string[],
  named: readonly NamedScanner[],
  run: (scanners: readonly NamedScanner[], input: string, rewrite: boolean) => Promise<ScanReport>,
  abortable: Abortable,
): Promise<string[]> {
  const masking = named.filter(({ scanner }) => scanner.detect !== undefined);
  const known = new Map<string, Promise<PartJudgement>>();
  const limit = pLimit(PARALLEL);
  const judge = (part: string) => {
    const judged = known.get(part) ?? limit(async () => judgementOf(await run(masking, part, false), part));
    known.set(part, judged);
    return judged;
  };
  return Promise.all(
    strings.map(async (string) => {
      const judged = await judge(string);
      return judged.isValid ? string : (await maskText(string, judge, judged, abortable)).text;
    }),
  );
}

/** The strings that a text was made of. */
function stringsOf({ text, pieces }: MessageText): string[] {
  return pieces.map(({ start, end }) => text.slice(start, end));
}

/**
 * Splits a rewritten text into the strings that it was made of. Where the number of lines has changed, the strings are rewritten one
 * by one.
 */
async function split(
  rewritten: string,
  original: MessageText,
  named: readonly NamedScanner[],
  run: (scanners: readonly NamedScanner[], input: string, rewrite: boolean) => Promise<{ text: string }>,
): Promise<string[]> {
  const originals = stringsOf(original);
  if (originals.length === 1) return [rewritten];
  const lines = rewritten.split("\n");
  const counts = originals.map((string) => string.split("\n").length);
  if (lines.length === counts.reduce((sum, count) => sum + count, 0)) {
    let next = 0;
    return counts.map((count) => {
      next += count;
      return lines.slice(next - count, next).join("\n");
    });
  }
  const rewriting = named.filter(({ scanner }) => scanner.sanitizes);
  const strings: string[] = [];
  for (const string of originals) strings.push((await run(rewriting, string, true)).text);
  return strings;
}

/** The findings of a text without what was found, each with the path of the string that it is in. */
function plainFindings({ findings }: ScanReport, { path, pieces }: MessageText): Record<string, PlainFinding[]> {
  const located = ({ text: _, ...finding }: Finding): PlainFinding => {
    const piece = pieces.find(({ start, end }) => start <= finding.start && finding.end <= end);
    if (!piece) return { ...finding, path };
    return { ...finding, start: finding.start - piece.start, end: finding.end - piece.start, path: piece.path };
  };
  return Object.fromEntries(Object.entries(findings).map(([name, list]) => [name, list.map(located)]));
}

/** Why a scan failed, without the message of an error that is not guard's: it might quote the text. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ScannerError)) return error instanceof GuardError ? error.message : "an unexpected error";
  return error.cause instanceof GuardError ? error.message : `${error.scanner} failed`;
}
