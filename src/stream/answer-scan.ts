import { AnswerCache } from "../models/call-context.ts";
import type { Abortable } from "../native.ts";
import { type CheckResult, findCheck, isInReview, type ScanResult } from "../scan/check-result.ts";
import { EditedText } from "../scan/edits.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { isWithheld, type MonitoredOutcome, type Outcome } from "../scan/outcome.ts";
import { reportOf, type ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { Finding, ScanContext } from "../scan/scanner.ts";
import { scanText, type TextResult } from "../scan/text-scan.ts";
import { GuardError } from "../support/errors.ts";
import type { OffsetUnit } from "../text/offsets.ts";
import { splitSentences } from "../text/sentences.ts";
import type { Span } from "../text/span.ts";
import type { AnswerStream, StreamStep } from "./answer-stream.ts";
import { AnswerWindow, MAX_OPEN_CHARS, WINDOW_CHARS } from "./answer-window.ts";
import { wholeCharacters } from "./cut-points.ts";
import { HOLDBACK } from "./holdback.ts";
import type { StreamOptions, StreamReport } from "./stream-options.ts";
import { type PartScanners, type StreamScanners, streamScanners } from "./stream-scanners.ts";
import { addEngineTimings, StreamTally } from "./stream-tally.ts";
import { scanWholeAnswer, WholeAnswer } from "./whole-answer.ts";

/** The settings of the scan of one answer. */
export interface AnswerScanSettings extends StreamOptions {
  named: readonly NamedScanner[];
  context: ScanContext;
  options: RunOptions;
  /** Decides what happens to a text. */
  decide(report: ScanReport): AnswerDecision;
  /** Whether the scan goes on after a failing check, so that all scanners read all of the answer. The default is false. */
  judgesOn?: boolean;
}

/** What happens to an answer. */
export type AnswerDecision = { isValid: boolean; outcome: Outcome } & MonitoredOutcome;

type Step = StreamStep<StreamReport>;

/**
 * The minimum characters between two scans within a sentence. `first` is small, so that the first text is released soon. It grows to one
 * in `part` characters of the window, which bounds how often a character is scanned.
 */
const STEP_CHARS = { first: 12, last: 48, part: 32 };
/** If more of a sentence was judged before, it is not reread from its beginning. */
const MAX_SENTENCE_CHARS = 1024;
/** The characters to wait for after a failing part, if the verdict on a part depends on the text around it. */
const SECOND_LOOK_CHARS = 400;

/** The results of the span scanners for the window up to an offset. */
interface WindowScan {
  /** The offset in the window at which the scanned text ended. */
  end: number;
  /** Whether a sentence or a line ends there. */
  isSentence: boolean;
  /** The text that the first scanner read. */
  input: string;
  result: ScanResult;
  /** The text as rewritten by all scanners. */
  text: string;
  /** The text after each rewriting scanner. */
  rewritten: ReadonlyMap<string, EditedText>;
}

/**
 * Scans one answer while it arrives.
 *
 * It keeps a window of the answer: the waiting text, and some text before it. At the ends of sentences and words the span scanners read
 * the window up to that offset. Text is released when no text after it changes what the scanners make of it. If the scanners would change
 * released text, the answer is blocked. Other scanners judge each new part once, before it is released. At the end all scanners read the
 * whole answer.
 */
export class AnswerScan implements AnswerStream<StreamReport> {
  readonly #settings: AnswerScanSettings;
  readonly #scanners: StreamScanners;
  readonly #unit: OffsetUnit;
  readonly #limits: Readonly<Record<"holdbackChars" | "holdbackMs", number>>;
  readonly #tally: StreamTally;
  readonly #window: AnswerWindow;
  readonly #whole: WholeAnswer;
  /** The scan up to the released text, and then the scans at later offsets. */
  #base: WindowScan;
  #scans: WindowScan[] = [];
  /** The answers of models for sentences of the window. */
  #answers = new AnswerCache();
  /** Whether a model has changed its answer about released text. */
  #hasWavered = false;
  /** The answer length at which a failing part is judged again, with the text after it. Undefined without a failing part. */
  #secondLook: number | undefined;
  #charsSinceScan = 0;
  #hasNewText = false;
  #hasEnded = false;

  constructor(settings: AnswerScanSettings) {
    const { named, options, context } = settings;
    this.#settings = settings;
    this.#unit = options.offsets ?? "utf16";
    this.#scanners = streamScanners(named, {
      suppress: options.suppress ?? [],
      rewrite: options.rewrite ?? true,
      exceptions: options.exceptions,
      context: Object.assign({}, context, options.vault && { vault: options.vault }),
    });
    this.#limits = {
      holdbackChars: settings.holdbackChars ?? HOLDBACK.chars,
      holdbackMs: settings.holdbackMs ?? HOLDBACK.milliseconds,
    };
    this.#tally = new StreamTally([...this.#scanners.suppressed]);
    this.#window = new AnswerWindow(this.#scanners, this.#unit);
    this.#whole = new WholeAnswer(settings.wholeChars ?? HOLDBACK.whole);
    const { result } = this.#tally;
    this.#base = { end: 0, isSentence: true, input: "", result, text: "", rewritten: new Map() };
  }

  get waiting(): number | undefined {
    // Without a complete word nothing can be released.
    const isWaiting = !this.#hasEnded && this.#hasNewText && !this.#scanners.holdsAll && this.#window.hasWaitingWord;
    return isWaiting ? this.#limits.holdbackMs : undefined;
  }

  async push(piece: string): Promise<Step> {
    this.#checkOpen();
    this.#take(piece);
    if (this.#scanners.holdsAll) return this.#whole.isComplete ? EMPTY_STEP : this.#block(this.#whole.length);
    // Looking for cut points at half the step bounds the work for pieces of a single character.
    if (this.#charsSinceScan < this.#step / 2) return EMPTY_STEP;
    this.#charsSinceScan = 0;
    return this.#advance();
  }

  async flush(): Promise<Step> {
    if (this.#hasEnded || this.#scanners.holdsAll) return EMPTY_STEP;
    this.#hasNewText = false;
    const limit = this.#window.limit();
    if (limit === "blocked") return this.#block();
    const { sentence, word } = await this.#window.cutPoints(limit, true, this.#abortable);
    const end = Math.max(sentence, word);
    if (end < 0) return EMPTY_STEP;
    return this.#release(this.#scans.find((known) => known.end === end) ?? (await this.#scanTo(end, false)));
  }

  async end(): Promise<Step> {
    this.#checkOpen();
    if (this.#whole.isComplete) return this.#endComplete();
    if (this.#scanners.holdsAll) return this.#block(this.#whole.length);
    return this.#endIncomplete();
  }

  get #abortable(): Abortable {
    return { signal: this.#settings.options.signal };
  }

  get #step(): number {
    const { first, last, part } = STEP_CHARS;
    return Math.min(last, Math.max(first, Math.floor(this.#window.text.length / part)));
  }

  #checkOpen(): void {
    if (this.#hasEnded) throw new GuardError("GUARD_CLOSED", "The answer has ended.");
  }

  #take(piece: string): void {
    if (piece === "") return;
    this.#whole.append(piece);
    this.#charsSinceScan += piece.length;
    this.#hasNewText = true;
    if (!this.#scanners.holdsAll) this.#window.append(piece);
  }

  /** Scans up to new cut points, and releases the decided text. */
  async #advance(): Promise<Step> {
    const { waitsForSentences, span, across } = this.#scanners;
    const last = this.#scans.at(-1)?.end ?? this.#window.released;
    const isScanned = (end: number) => this.#scans.some((scan) => scan.end === end && scan.isSentence);
    const isTooLong = this.#window.waitingChars > MAX_OPEN_CHARS + WINDOW_CHARS;
    const limit = this.#window.limit();
    if (limit === "blocked") return this.#block();
    if (limit <= last && !isTooLong) return EMPTY_STEP;
    const { sentence, word } = await this.#window.cutPoints(limit, !waitsForSentences, this.#abortable);
    if (sentence > 0 && !isScanned(sentence)) await this.#scanTo(sentence, true);
    const reached = Math.max(last, sentence);
    const step = Math.max(this.#step, Math.floor(span / 4));
    // Within a waiting sentence, scans start early enough to have read enough text when the sentence may be released.
    const scansWords =
      !waitsForSentences ||
      this.#window.waitingChars > this.#limits.holdbackChars - span - step ||
      (across > 0 && this.#scans.length > 0);
    if (scansWords && word >= reached + step) await this.#scanTo(word, false);
    return this.#releaseDecided(isTooLong);
  }

  /** Releases text up to the last decided offset. */
  async #releaseDecided(isTooLong: boolean): Promise<Step> {
    const { waitsForSentences, span, across } = this.#scanners;
    const isLong = !waitsForSentences || this.#window.waitingChars > this.#limits.holdbackChars;
    const latest = this.#scans.at(-1);
    if (!latest) {
      if (!isTooLong) return EMPTY_STEP;
      const end = wholeCharacters(this.#window.text, this.#window.text.length - 1);
      return this.#release(await this.#scanTo(end, false));
    }
    for (const scan of [...this.#scans].reverse()) {
      const charsBehind = latest.end - scan.end;
      if (!(scan.isSentence ? charsBehind >= across : isLong && charsBehind >= span)) continue;
      if (scan !== latest && !this.#isWithheld(scan.result)) {
        // The failing span may be at the border, or begin before it.
        if (this.#isWithheld(latest.result)) return EMPTY_STEP;
        if (!latest.text.startsWith(scan.text)) continue;
      }
      return this.#release(scan);
    }
    return isTooLong ? this.#release(latest) : EMPTY_STEP;
  }

  /** Runs the span scanners on the window up to an offset. */
  async #scanTo(end: number, isSentence: boolean): Promise<WindowScan> {
    const { context, options } = this.#settings;
    const { spans, all } = this.#scanners;
    const input = this.#window.inputUpTo(end);
    const rewritten = new Map<string, EditedText>();
    const arriving = Object.assign({}, context, { arriving: true, answers: this.#answers });
    const onRewritten = (name: string, text: EditedText) => {
      if (options.rewrite !== false) rewritten.set(name, text);
    };
    const { text, ...result } = await scanText(
      spans,
      input,
      arriving,
      Object.assign({}, options, { scope: "output", suppress: [], offsets: "utf16", onRewritten } as const),
    );
    if (spans.length === 0 && all.length > 0) result.coverage.scannedChars = result.coverage.chars;
    const scan = { end, isSentence, input, result, text, rewritten };
    this.#scans = [...this.#scans.filter((known) => known.end !== end), scan].sort((a, b) => a.end - b.end);
    return scan;
  }

  #isWithheld(result: ScanResult): boolean {
    const { suppressed } = this.#scanners;
    return isWithheld(this.#settings.decide(reportOf(Object.assign({}, result, { suppressed: [...suppressed] }))));
  }

  /** Releases the window up to the end of a scan, after the other scanners have judged the new part. */
  async #release(scan: WindowScan): Promise<Step> {
    if (this.#secondLook !== undefined && this.#whole.length < this.#secondLook) return EMPTY_STEP;
    const unread = this.#window.text.length - scan.end;
    const judgement = await this.#judge(scan);
    if (judgement === "blocked" && !this.#settings.judgesOn) return this.#block(unread);
    if (judgement === "unsure") {
      this.#secondLook = this.#whole.length + SECOND_LOOK_CHARS;
      return EMPTY_STEP;
    }
    this.#secondLook = undefined;
    if (scan.text.startsWith(this.#base.text)) return this.#give(scan);
    if (!(await this.#wavers(scan))) return this.#block(unread);
    const [from, end] = [this.#window.released, scan.end];
    await this.#moveWindow(from);
    return this.#give(await this.#scanTo(end - from, scan.isSentence));
  }

  async #give(scan: WindowScan): Promise<Step> {
    const base = this.#base;
    this.#scans = this.#scans.filter(({ end }) => end > scan.end);
    if (!scan.text.startsWith(base.text)) return this.#block(this.#window.text.length - scan.end);
    this.#base = scan;
    this.#window.release(scan.end);
    const text = scan.text.slice(base.text.length);
    this.#whole.release(text);
    if (this.#window.isTooLong) await this.#moveWindow(this.#window.nextStart);
    return { text };
  }

  /**
   * Whether only models would now rewrite released text differently. A model's result for a part of a long sentence may change with the
   * rest of the sentence. This does not end the answer, because the models read the whole answer at its end.
   */
  async #wavers({ end }: WindowScan): Promise<boolean> {
    const { byModel, spans } = this.#scanners;
    if (byModel.length === 0) return false;
    const rules = spans.filter((item) => !byModel.includes(item));
    const context = Object.assign({}, this.#settings.context, { arriving: true });
    const textOf = async (length: number) => (await this.#run(rules, this.#window.inputUpTo(length), context)).text;
    const isSame = (await textOf(end)).startsWith(await textOf(this.#window.released));
    this.#hasWavered ||= isSame;
    return isSame;
  }

  /**
   * Adds the results of all scanners for the new part to the tally.
   *
   * @returns `unsure` if the part fails, but may pass with the text after it. The tally is unchanged then.
   */
  async #judge(scan: WindowScan): Promise<"passed" | "blocked" | "unsure"> {
    const base = this.#base;
    const { released } = this.#window;
    const ofSpans = withNewOmitted(scan.result, base.result, (check) => this.#newFindings(check, released));
    const adding = [() => this.#tally.add(ofSpans, (check) => this.#newFindings(check, released))];
    const { judgesOn = false } = this.#settings;
    let isBlocked = this.#isWithheld(scan.result);
    for (const part of isBlocked && !judgesOn ? [] : this.#scanners.parts) {
      const { text } = textAfter(scan, part.after);
      const judged = textAfter(base, part.after).text.length;
      const from = await partStart(text, judged, part, this.#abortable);
      if (text.slice(from).trim() === "") continue;
      const { engineTiming, ...result } = await this.#run(part.scanners, text.slice(from));
      adding.push(() => {
        this.#tally.addTimings(engineTiming);
        this.#tally.add(result, ({ findings }) => {
          const added = findings.filter(({ end }) => from + end > judged);
          return this.#answerFindings(added, textAfter(scan, part.after), from);
        });
      });
      if (!this.#isWithheld(result)) continue;
      if (this.#secondLook === undefined && failsByContext(result, part)) return "unsure";
      isBlocked = true;
      if (!judgesOn) break;
    }
    for (const add of adding) add();
    return isBlocked ? "blocked" : "passed";
  }

  #run(scanners: readonly NamedScanner[], text: string, context = this.#settings.context): Promise<TextResult> {
    const { options } = this.#settings;
    const own = { scope: "output", suppress: [], offsets: "utf16" } as const;
    return scanText(scanners, text, context, Object.assign({}, options, own));
  }

  /** Returns the findings of a span scanner that begin after the released text, with their offsets in the whole answer. */
  #newFindings({ findings }: CheckResult, released: number): Finding[] {
    return findings.flatMap((finding) => {
      const span = this.#window.answerSpan(finding, released);
      return span ? [Object.assign({}, finding, span)] : [];
    });
  }

  /** Maps findings in a part of a rewritten text to the whole answer. */
  #answerFindings(findings: readonly Finding[], text: EditedText, from: number): Finding[] {
    const spans = text.originalSpans(findings.map(({ start, end }) => ({ start: start + from, end: end + from })));
    return findings.map((finding, index) => {
      const span = this.#window.answerSpan(spans[index] as Span, Number.NEGATIVE_INFINITY);
      return Object.assign({}, finding, span);
    });
  }

  /** Moves the beginning of the window, and scans the rest of it again. */
  async #moveWindow(from: number): Promise<void> {
    if (from <= 0) return;
    this.#tally.addTimings(this.#answers.timings);
    this.#answers = new AnswerCache();
    const later = this.#scans.at(-1);
    const values = this.#scanners.repeating.flatMap(
      ({ name }) => findCheck(this.#base.result, { scanner: name, scope: "output" })?.findings ?? [],
    );
    this.#window.moveTo(from, values);
    this.#scans = [];
    this.#base = await this.#scanTo(this.#window.released, true);
    this.#scans = [];
    if (later) await this.#scanTo(later.end - from, later.isSentence);
  }

  /** Ends an answer that was kept as a whole: all scanners read the whole answer. */
  async #endComplete(): Promise<Step> {
    const { named, context, options } = this.#settings;
    const seen = this.#tally.result;
    const whole = await scanWholeAnswer(this.#whole, {
      ...{ named, context, options, seen, hasWavered: this.#hasWavered },
      scanners: this.#scanners,
    });
    this.#tally.addTimings(this.#answers.timings);
    addEngineTimings(whole.engineTiming, this.#tally.engineTiming);
    let { rest, isBlocked } = whole;
    if (this.#hasWavered && !isBlocked) {
      const step = await this.#give(await this.#scanTo(this.#window.text.length, true));
      isBlocked = step.report !== undefined;
      rest = step.text;
    }
    const report = this.#close(whole.result, whole.engineTiming, isBlocked);
    return { text: isWithheld(report) ? "" : rest, report };
  }

  /** Ends an answer that was too long to keep: the scanners of whole answers read its beginning. */
  async #endIncomplete(): Promise<Step> {
    this.#secondLook = this.#whole.length;
    const step = await this.#release(await this.#scanTo(this.#window.text.length, true));
    if (step.report) return step;
    const { context, options, named } = this.#settings;
    const { atEnd, parts } = this.#scanners;
    const needed = [...atEnd, ...parts.flatMap(({ scanners }) => scanners)].map(({ name }) => name);
    let unread = 0;
    if (needed.length > 0) {
      const scope = { scope: "output" } as const;
      const { engineTiming, ...beginning } = await scanText(
        named,
        this.#whole.text,
        context,
        Object.assign({}, options, scope),
      );
      this.#tally.addTimings(engineTiming);
      this.#addBeginning(beginning, needed);
      if (atEnd.length > 0) unread = this.#whole.length - this.#whole.text.length;
    }
    const report = this.#close(this.#tally.total(this.#answerLength, unread), this.#tally.engineTiming, false);
    return { text: isWithheld(report) ? "" : step.text, report };
  }

  /** Adds the results for the beginning of an answer. The results of span and part scanners were added part by part. */
  #addBeginning(beginning: ScanResult, needed: readonly string[]): void {
    const isAtEnd = (check: CheckResult) => this.#scanners.atEnd.some(({ name }) => name === check.scanner);
    const checks = beginning.checks
      .filter(({ scanner, outcome }) => needed.includes(scanner) || outcome === "error")
      .map((check) => {
        if (isAtEnd(check)) return check;
        const { findingsOmitted: _, ...coverage } = check.coverage;
        return Object.assign({}, check, { coverage });
      });
    const coverage = Object.assign({}, beginning.coverage, { chars: 0, scannedChars: 0 });
    this.#tally.add({ checks, suppressed: [], coverage }, (check) => (isAtEnd(check) ? check.findings : []));
  }

  /**
   * Blocks the answer before its end.
   *
   * @param unread the number of characters without a decision.
   */
  #block(unread = this.#window.waitingChars): Step {
    const total = this.#tally.total(this.#answerLength, unread);
    return { text: "", report: this.#close(total, this.#tally.engineTiming, true) };
  }

  get #answerLength(): number {
    return this.#scanners.holdsAll ? this.#whole.length : this.#window.answerLength;
  }

  #close(result: ScanResult, engineTiming: ScanReport["engineTiming"], isBlocked: boolean): StreamReport {
    this.#hasEnded = true;
    this.#window.clear();
    this.#whole.clear();
    this.#scans = [];
    const report = reportOf(result, engineTiming);
    const { isValid, outcome, ...would } = this.#settings.decide(report);
    // An answer that ended at a part in review is held, not blocked.
    const isHeld = outcome === "review" && !isValid;
    return Object.assign(report, would, {
      isValid: isValid && !isBlocked,
      outcome: isBlocked && !isHeld ? ("blocked" as const) : outcome,
      atEnd: this.#scanners.atEnd.map(({ name }) => name),
    });
  }
}

const EMPTY_STEP: Step = Object.freeze({ text: "" });

/** Returns the text that the scanners after a rewriting scanner read. */
function textAfter({ rewritten, input }: WindowScan, after: string | undefined): EditedText {
  return (after === undefined ? undefined : rewritten.get(after)) ?? new EditedText(input);
}

/** Whether a part fails only because of scanners whose verdict on a part depends on the text around it. */
function failsByContext({ checks }: ScanResult, { scanners }: PartScanners): boolean {
  const invalid = checks.filter(({ isValid }) => !isValid);
  const failing = invalid.length > 0 ? invalid : checks.filter(isInReview);
  const dependsOnContext = ({ scanner, outcome }: CheckResult) => {
    const streaming = scanners.find(({ name }) => name === scanner)?.scanner.streaming;
    return streaming?.reads === "sentences" && streaming.overlap > 0 && outcome !== "error";
  };
  return failing.length > 0 && failing.every(dependsOnContext);
}

/** Returns the start of a part to judge: the beginning of its sentence, and before it some text that is read again. */
async function partStart(
  text: string,
  judged: number,
  { overlap }: PartScanners,
  abortable: Abortable,
): Promise<number> {
  if (judged <= 0) return 0;
  const first = Math.max(0, judged - Math.max(overlap, MAX_SENTENCE_CHARS));
  const wanted = judged - overlap;
  let from = judged;
  for (const { start, end } of await splitSentences(text.slice(first), abortable)) {
    if (first + end <= wanted) continue;
    from = first + start;
    break;
  }
  return Math.min(from, judged);
}

/**
 * Counts only the omitted findings after the released text, because earlier scans have counted the others.
 *
 * @param newFindings returns the findings of a check after the released text.
 */
function withNewOmitted(
  result: ScanResult,
  base: ScanResult,
  newFindings: (check: CheckResult) => readonly Finding[],
): ScanResult {
  if (result.checks.every(({ coverage }) => coverage.findingsOmitted === undefined)) return result;
  const count = (check: CheckResult | undefined) =>
    check ? check.findings.length + (check.coverage.findingsOmitted ?? 0) : 0;
  const checks = result.checks.map((check) => {
    if (check.coverage.findingsOmitted === undefined) return check;
    const findingsOmitted = Math.max(0, count(check) - count(findCheck(base, check)) - newFindings(check).length);
    return Object.assign({}, check, { coverage: Object.assign({}, check.coverage, { findingsOmitted }) });
  });
  return Object.assign({}, result, { checks });
}
