import { type CheckResult, findCheck, isValid as isValidResult } from "../scan/check-result.ts";
import { type Mode, modeOf } from "../scan/mode.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { reportOf } from "../scan/report.ts";
import { AnswerScan, type AnswerScanSettings } from "./answer-scan.ts";
import type { AnswerStream, StreamStep } from "./answer-stream.ts";
import type { StreamReport } from "./stream-options.ts";

type Step = StreamStep<StreamReport>;

/** Creates the scan of one answer, in the modes of its scanners. */
export function createAnswerScan(settings: AnswerScanSettings): AnswerStream<StreamReport> {
  const { options } = settings;
  const modes = new Map<NamedScanner, Mode>();
  for (const item of settings.named) modes.set(item, modeOf("output", [options.mode, item.scanner.mode]));
  const named = settings.named.filter((item) => modes.get(item) !== "off");
  const isMonitoring = (item: NamedScanner) => modes.get(item) === "monitor";
  if (!named.some(isMonitoring)) return new AnswerScan(Object.assign({}, settings, { named }));
  return new MonitoredAnswerScan(Object.assign({}, settings, { named }), isMonitoring);
}

/**
 * Scans one answer, some of whose scanners only monitor.
 *
 * The enforcing scanners release the answer as if there were no others. Without an enforcing scanner, each piece is released when it has
 * been read. Beside that, a second scan judges the answer as if all scanners enforced, so that the verdicts of the monitoring ones are those
 * that they will have then. It releases nothing, and goes on after a failing check.
 */
class MonitoredAnswerScan implements AnswerStream<StreamReport> {
  readonly #settings: AnswerScanSettings;
  readonly #monitoring: readonly NamedScanner[];
  /** Undefined without an enforcing scanner. */
  readonly #enforcing: AnswerScan | undefined;
  readonly #intended: AnswerScan;
  #intendedReport: StreamReport | undefined;

  constructor(settings: AnswerScanSettings, isMonitoring: (item: NamedScanner) => boolean) {
    const { named, context, options } = settings;
    const enforcing = named.filter((item) => !isMonitoring(item));
    this.#settings = settings;
    this.#monitoring = named.filter(isMonitoring);
    this.#enforcing =
      enforcing.length > 0 ? new AnswerScan(Object.assign({}, settings, { named: enforcing })) : undefined;
    const vault = (options.rewrite ?? true) ? options.vault?.monitored() : options.vault;
    const own = { ignoresModes: true, failFast: false, onScannerError: "block" } as const;
    this.#intended = new AnswerScan(
      Object.assign({}, settings, {
        // The others only matter for what they rewrite.
        named: named.filter((item) => isMonitoring(item) || item.scanner.sanitizes),
        context: Object.assign({}, context, { monitors: true }),
        options: Object.assign({}, options, own, vault && { vault }),
        judgesOn: true,
      }),
    );
  }

  get waiting(): number | undefined {
    return this.#enforcing?.waiting;
  }

  async push(text: string): Promise<Step> {
    const [step] = await Promise.all([this.#enforcing?.push(text), this.#judge((scan) => scan.push(text))]);
    return this.#merged(step ?? { text });
  }

  async flush(): Promise<Step> {
    return this.#merged((await this.#enforcing?.flush()) ?? { text: "" });
  }

  async end(): Promise<Step> {
    const [step] = await Promise.all([this.#enforcing?.end(), this.#judge((scan) => scan.end())]);
    return this.#merged(step ?? { text: "", report: this.#intendedReport as StreamReport });
  }

  async #judge(next: (scan: AnswerScan) => Promise<Step>): Promise<void> {
    if (this.#intendedReport) return;
    const { report } = await next(this.#intended);
    this.#intendedReport = report;
  }

  /** Adds the verdicts of the monitoring scanners to the last step. */
  #merged({ text, report }: Step): Step {
    if (!report) return { text };
    const intended = this.#intendedReport;
    const suppressed = report.coverage.suppressed.map((scanner) => ({ scanner, scope: "output" as const }));
    const engineTiming = Object.assign({}, intended?.engineTiming, report.engineTiming);
    const coverage = Object.assign({}, report.coverage);
    // What a monitoring scanner did not read must not make the answer incomplete.
    if (!this.#enforcing) Object.assign(coverage, { scannedChars: coverage.chars, truncated: false });
    const merged = reportOf({ checks: this.#checksOf(report), suppressed, coverage }, engineTiming);
    const { isValid, outcome, ...would } = this.#settings.decide(merged);
    // An answer may be blocked although no check failed, because it is too long for a scanner that rewrites the whole of it.
    const isBlocked = this.#enforcing !== undefined && report.outcome === "blocked";
    const isTooLong = intended?.outcome === "blocked" && isValidResult(intended) && !would.wouldBlock;
    const names = this.#monitoring.map(({ name }) => name);
    return {
      text,
      report: Object.assign(merged, would, isTooLong && { wouldBlock: names }, {
        isValid: isValid && !isBlocked,
        outcome: isBlocked ? ("blocked" as const) : outcome,
        atEnd: [...new Set([...report.atEnd, ...(intended?.atEnd ?? [])])],
      }),
    };
  }

  /** Returns the checks in the order of the scanners. */
  #checksOf(report: StreamReport): CheckResult[] {
    return this.#settings.named.flatMap((item) => {
      const monitors = this.#monitoring.includes(item);
      const from = monitors ? this.#intendedReport : report;
      const check = from && findCheck(from, { scanner: item.name, scope: "output" });
      if (!check) return [];
      const { edits: _, ...judged } = check;
      return [monitors ? Object.assign(judged, { mode: "monitor" as const }) : check];
    });
  }
}
