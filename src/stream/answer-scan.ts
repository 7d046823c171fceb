import { AnswerCache } from "../models/call-context.ts";
import type { Abortable } from "../native.ts";
import { toVerdict } from "../scan/checked-verdict.ts";
import { applyEdits } from "../scan/edits.ts";
import { addOmitted } from "../scan/findings.ts";
import { copyResult, onlyNames } from "../scan/merge.ts";
import type { Outcome } from "../scan/outcome.ts";
import { type NamedScanner, type RunOptions, runScanners, type ScanReport } from "../scan/scan.ts";
import { type Finding, type ScanContext, type ScannerVerdict, scanningWith } from "../scan/scanner.ts";
import { GuardError } from "../support/errors.ts";
import { lengthIn, utf16Offset } from "../text/offsets.ts";
import { splitSentences } from "../text/sentences.ts";
import { isSpaceless } from "../text/word-breaks.ts";
import type { AnswerStream, StreamStep } from "./answer-stream.ts";
import { type Cuts, cutsIn, lastWordEnd, openFence, unfinishedFrom, wholeCharacters } from "./cuts.ts";
import { HOLDBACK } from "./holdback.ts";
import { type Judges, type StreamLists, streamLists } from "./lists.ts";
import { addEngineTimings, Tally } from "./tally.ts";

/** How text of an answer is given out while the answer arrives. */
export interface StreamOptions {
  /**
   * The most characters (UTF-16 code units) that wait for the end of their sentence, where scanners judge sentences. The default is
   * 240, which few sentences are longer than.
   */
  holdbackChars?: number | undefined;
  /**
   * The milliseconds after which text that waits is given out up to its last whole word, when nothing more of the answer comes. What may
   * still turn out to be a part of something longer waits on. The default is 2000.
   */
  holdbackMs?: number | undefined;
  /**
   * How much of an answer is kept for scanners that need all of it, in UTF-16 code units. The default is 65,536. Of a longer answer such
   * scanners read the beginning, which the coverage tells; when one of them rewrites answers, a longer one is blocked.
   */
  wholeChars?: number | undefined;
}

/** The report on an answer that arrived in pieces. */
export interface StreamReport extends ScanReport {
  /** What becomes of the answer. With `blocked`, what was held back of it is never given out. */
  outcome: Outcome;
  /** The names of the scanners that need the whole answer, and so ran at its end only. */
  atEnd: string[];
}

/** What came of the latest piece. */
type StreamScanStep = StreamStep<StreamReport>;

/** The settings of the scan of one answer. */
export interface StreamScanSettings extends StreamOptions {
  named: readonly NamedScanner[];
  context: ScanContext;
  options: RunOptions & { suppress?: readonly string[] };
  /** Decides what becomes of a text. */
  decide(report: ScanReport): { isValid: boolean; outcome: Outcome };
}

/**
 * The fewest characters between two scans within a sentence: at first few, so that the first text comes soon, then one in 32 of the window,
 * which bounds how often a character is scanned.
 */
const STEP = { first: 12, last: 48, part: 32 };
/** The most characters that wait for the end of something. */
const LONGEST_OPEN = 8192;
/** How much text that has been given out is scanned again and again before the window moves on. */
const WINDOW = 1024;
/** A sentence of which more has been judged before is not read again from its beginning. */
const LONGEST_SENTENCE = 1024;

/** How much text is waited for behind a part that fails, where the verdict on a part depends on the text around it. */
const SECOND_LOOK = 400;

/** The most characters of a value that is found again, and of the line before it. */
const LONGEST_VALUE = 120;
/** The most values that are found again wherever they are. */
const MOST_VALUES = 16;

/** What the scanners of spans said of the window up to a place. */
interface Look {
  /** The offset in the window at which the text ended. */
  end: number;
  /** Whether a sentence or a line ends there. */
  isSentence: boolean;
  report: ScanReport;
  /** The text that the scanners left. */
  text: string;
  /** The text that each sanitizing scanner left. */
  left: ReadonlyMap<string, string>;
  /** What the first scanner was given. */
  given: string;
}

/**
 * Scans one answer while it arrives.
 *
 * A window of the answer is kept: what waits, and some text before it. At the ends of sentences and words the scanners of spans read
 * the window up to there. Its text is given out up to a place when the scanners leave it the same whatever of the text behind that place
 * they are shown. What was given out before must be the same, too; where it is not, the answer is blocked. Other scanners
 * judge the new part once, before it is given out. At the end all scanners read the whole answer.
 */
export class AnswerScan implements AnswerStream<StreamReport> {
  readonly #settings: StreamScanSettings;
  readonly #lists: StreamLists;
  readonly #holdbackChars: number;
  readonly #holdbackMs: number;
  readonly #wholeChars: number;
  readonly #tally = new Tally();
  readonly #unit: "utf16" | "codePoint";
  /** The length of the answer so far: in UTF-16 code units, and in the unit of the caller without the window. */
  #length = 0;
  #before = 0;
  /** The beginning of the answer, for scanners that need all of it. */
  #whole: string[] = [];
  #given: string[] = [];
  /** The window, the offset up to which it has been given out, and that at which its last word begins. */
  #text = "";
  #out = 0;
  #word = 0;
  /**
   * What is scanned before the window: lines in which values were found that are to be found again, and the line that began the block
   * of code in which the window begins.
   */
  #prefix = "";
  #found: string[] = [];
  #fence: string | undefined;
  /** What the scanners said up to {@link AnswerScan.#out}, and then at places behind it. */
  #base: Look;
  #looks: Look[] = [];
  /** How much of their texts the scanners have read before the window, by the names of sanitizing scanners. */
  readonly #offsets = new Map<string | undefined, number>();
  /** What models have said of the sentences of the window. */
  #answers = new AnswerCache();
  /** Whether a model has changed what it says of text that was given out. */
  #hasWavered = false;
  /** The length of the answer at which a part that failed is judged again, with what follows it; undefined where none has failed. */
  #again: number | undefined;
  #fresh = 0;
  #isNew = false;
  #ended = false;

  constructor(settings: StreamScanSettings) {
    const { named, options, context } = settings;
    this.#settings = settings;
    this.#lists = streamLists(named, {
      suppress: options.suppress ?? [],
      rewrite: options.rewrite ?? true,
      context: { ...context, ...(options.vault ? { vault: options.vault } : {}) },
    });
    this.#holdbackChars = settings.holdbackChars ?? HOLDBACK.chars;
    this.#holdbackMs = settings.holdbackMs ?? HOLDBACK.milliseconds;
    this.#wholeChars = settings.wholeChars ?? HOLDBACK.whole;
    this.#unit = options.offsets ?? "utf16";
    const report = this.#tally.report;
    report.coverage.suppressed = [...this.#lists.suppressed];
    this.#base = { end: 0, isSentence: true, report, text: "", left: new Map(), given: "" };
  }

  /** The milliseconds after which {@link AnswerScan.flush} may give something out; undefined when only more of the answer can. */
  get waiting(): number | undefined {
    // Without the end of a word there is nothing to give out.
    const waits = !this.#ended && this.#isNew && !this.#lists.holdsAll && this.#out < this.#word;
    return waits ? this.#holdbackMs : undefined;
  }

  async push(piece: string): Promise<StreamScanStep> {
    this.#checkOpen();
    this.#take(piece);
    if (this.#lists.holdsAll) return this.#length > this.#wholeChars ? this.#block(this.#length) : NOTHING;
    // Places to cut are looked for twice as often, which bounds the work for pieces of a single character.
    if (this.#fresh < this.#step / 2) return NOTHING;
    this.#fresh = 0;
    return this.#advance();
  }

  async flush(): Promise<StreamScanStep> {
    if (this.#ended || this.#lists.holdsAll) return NOTHING;
    this.#isNew = false;
    const limit = this.#limit();
    if (limit === "blocked") return this.#block();
    const { sentence, word } = await this.#cuts(limit, true);
    const end = Math.max(sentence, word);
    if (end < 0) return NOTHING;
    const look = this.#looks.find((known) => known.end === end) ?? (await this.#look(end, false));
    return this.#release(look);
  }

  async end(): Promise<StreamScanStep> {
    this.#checkOpen();
    if (this.#length <= this.#wholeChars) return this.#endWhole();
    if (this.#lists.holdsAll) return this.#block(this.#length);
    return this.#endLong();
  }

  get #step(): number {
    return Math.min(STEP.last, Math.max(STEP.first, Math.floor(this.#text.length / STEP.part)));
  }

  #checkOpen(): void {
    if (this.#ended) throw new GuardError("GUARD_CLOSED", "The answer has ended.");
  }

  #take(piece: string): void {
    if (piece === "") return;
    if (this.#length < this.#wholeChars) keep(this.#whole, piece.slice(0, this.#wholeChars - this.#length));
    this.#length += piece.length;
    if (this.#length > this.#wholeChars) this.#given = [];
    this.#fresh += piece.length;
    this.#isNew = true;
    if (this.#lists.holdsAll) return;
    for (let at = piece.length - 1; at >= 0; at--) {
      const character = piece.charAt(at);
      if (!/\s/.test(character) && !isSpaceless(character)) continue;
      this.#word = this.#text.length + at + 1;
      break;
    }
    this.#text += piece;
  }

  /** Returns the offset up to which text may be given out. What begins there has not ended. */
  #limit(): number | "blocked" {
    const text = this.#text;
    let limit = wholeCharacters(text, text.length);
    if (text.length - this.#word <= LONGEST_OPEN) limit = Math.min(limit, this.#word);
    limit = Math.min(limit, unfinishedFrom(text, this.#out));
    const waiting = text.slice(this.#out);
    for (const { openFrom, longSpans } of this.#lists.openSpans) {
      const from = openFrom?.(waiting);
      if (from === undefined) continue;
      if (waiting.length - from <= LONGEST_OPEN) limit = Math.min(limit, this.#out + from);
      else if (longSpans === "block") return "blocked";
    }
    return limit;
  }

  #cuts(limit: number, lines: boolean): Promise<Cuts> {
    const from = this.#out;
    const openFrom = (end: number) => {
      const waiting = this.#text.slice(from, end);
      const starts = this.#lists.openSpans.flatMap((streaming) => streaming.openFrom?.(waiting) ?? []);
      const start = Math.min(...starts);
      return starts.length > 0 && waiting.length - start <= LONGEST_OPEN ? from + start : undefined;
    };
    return cutsIn(this.#text, { from, limit, lines, openFrom }, this.#settings.options);
  }

  async #advance(): Promise<StreamScanStep> {
    const { waitsForSentences, span, across } = this.#lists;
    const last = this.#looks.at(-1)?.end ?? this.#out;
    const known = (end: number) => this.#looks.some((look) => look.end === end && look.isSentence);
    const waiting = this.#text.length - this.#out;
    const isTooLong = waiting > LONGEST_OPEN + WINDOW;
    const limit = this.#limit();
    if (limit === "blocked") return this.#block();
    if (limit <= last && !isTooLong) return NOTHING;
    const cuts = await this.#cuts(limit, !waitsForSentences);
    if (cuts.sentence > 0 && !known(cuts.sentence)) await this.#look(cuts.sentence, true);
    const reached = Math.max(last, cuts.sentence);
    const step = Math.max(this.#step, Math.floor(span / 4));
    // Within a sentence that waits, looks begin so early that they have seen enough when the sentence may be given out.
    const looksAtWords =
      !waitsForSentences || waiting > this.#holdbackChars - span - step || (across > 0 && this.#looks.length > 0);
    if (looksAtWords && cuts.word >= reached + step) await this.#look(cuts.word, false);
    return this.#decide(isTooLong);
  }

  /** Gives out text up to the last place that is decided. */
  async #decide(isTooLong: boolean): Promise<StreamScanStep> {
    const { waitsForSentences, span, across } = this.#lists;
    const isLong = !waitsForSentences || this.#text.length - this.#out > this.#holdbackChars;
    const latest = this.#looks.at(-1);
    if (!latest) {
      if (!isTooLong) return NOTHING;
      const end = wholeCharacters(this.#text, this.#text.length - 1);
      return this.#release(await this.#look(end, false));
    }
    for (const look of [...this.#looks].reverse()) {
      const behind = latest.end - look.end;
      if (!(look.isSentence ? behind >= across : isLong && behind >= span)) continue;
      if (look !== latest && this.#outcome(look.report) !== "blocked") {
        // What fails may stand at the border, and may begin before it.
        if (this.#outcome(latest.report) === "blocked") return NOTHING;
        if (!latest.text.startsWith(look.text)) continue;
      }
      return this.#release(look);
    }
    return isTooLong ? this.#release(latest) : NOTHING;
  }

  /** Lets the scanners of spans read the window up to an offset. */
  async #look(end: number, isSentence: boolean): Promise<Look> {
    const { context, options } = this.#settings;
    const { spans, all } = this.#lists;
    const given = this.#prefix + this.#text.slice(0, end);
    const left = new Map<string, string>();
    const scanners = spans.map((item) => (item.scanner.sanitizes ? recorded(item, left) : item));
    const arriving = { ...context, arriving: true, answers: this.#answers };
    const { text, ...report } = await runScanners(scanners, given, arriving, { ...options, suppress: [] });
    report.coverage.suppressed = [...this.#lists.suppressed];
    // The times of models are those of all looks, and are added once.
    report.engineTiming = {};
    if (spans.length === 0 && all.length > 0) report.coverage.scannedChars = report.coverage.chars;
    if (options.rewrite === false) left.clear();
    const look = { end, isSentence, report, text, left, given };
    this.#looks = [...this.#looks.filter((known) => known.end !== end), look].sort((a, b) => a.end - b.end);
    return look;
  }

  #outcome(report: ScanReport): Outcome {
    return this.#settings.decide(report).outcome;
  }

  /** Gives out the window up to where a look ended, after the other scanners have judged what is new. */
  async #release(look: Look): Promise<StreamScanStep> {
    const base = this.#base;
    if (this.#again !== undefined && this.#length < this.#again) return NOTHING;
    const judgement = await this.#judge(look);
    if (judgement === "blocked") return this.#block(this.#text.length - look.end);
    if (judgement === "unsure") {
      this.#again = this.#length + SECOND_LOOK;
      return NOTHING;
    }
    this.#again = undefined;
    if (!look.text.startsWith(base.text)) {
      if (!(await this.#wavers(look))) return this.#block(this.#text.length - look.end);
      const [from, end] = [this.#out, look.end];
      await this.#move(from);
      return this.#give(await this.#look(end - from, look.isSentence));
    }
    return this.#give(look);
  }

  async #give(look: Look): Promise<StreamScanStep> {
    const base = this.#base;
    this.#looks = this.#looks.filter(({ end }) => end > look.end);
    if (!look.text.startsWith(base.text)) return this.#block(this.#text.length - look.end);
    this.#base = look;
    this.#out = look.end;
    const text = look.text.slice(base.text.length);
    if (this.#length <= this.#wholeChars) keep(this.#given, text);
    if (this.#out > WINDOW + this.#lists.before) await this.#move(this.#start());
    return { text };
  }

  /**
   * Tells whether it is by models alone that text which has been given out would be another one now. What a model says of a part of a long
   * sentence may change with the rest of it. That does not end the answer: at its end the models read all of it again.
   */
  async #wavers({ end }: Look): Promise<boolean> {
    const { byModel, spans } = this.#lists;
    if (byModel.length === 0) return false;
    const rules = spans.filter((item) => !byModel.includes(item));
    const context = { ...this.#settings.context, arriving: true };
    const read = async (length: number) =>
      (await this.#run(rules, this.#prefix + this.#text.slice(0, length), context)).text;
    const isSame = (await read(end)).startsWith(await read(this.#out));
    this.#hasWavered ||= isSame;
    return isSame;
  }

  /**
   * Adds what all scanners say of the new part to the results.
   *
   * @returns `unsure` where the part fails, but may pass with the text behind it. Nothing was added to the results then.
   */
  async #judge(look: Look): Promise<"passed" | "blocked" | "unsure"> {
    const base = this.#base;
    const seen = this.#withNewOmitted(look.report, base);
    const adding = [() => this.#tally.add(seen, (name, findings) => this.#newFindings(name, findings, base))];
    let isBlocked = this.#outcome(look.report) === "blocked";
    for (const judges of isBlocked ? [] : this.#lists.judges) {
      const text = textAfter(look, judges.after);
      const judged = textAfter(base, judges.after).length;
      const from = await beginning(text, judged, judges, this.#settings.options);
      const part = text.slice(from);
      if (part.trim() === "") continue;
      const report = await this.#run(judges.scanners, part);
      const moved = (this.#offsets.get(judges.after) ?? 0) + lengthIn(this.#unit, text.slice(0, from));
      const start = lengthIn(this.#unit, text.slice(from, judged));
      adding.push(() =>
        this.#tally.add(report, (_, findings) =>
          findings.filter(({ end }) => end > start).map((finding) => shifted(finding, moved)),
        ),
      );
      if (this.#outcome(report) !== "blocked") continue;
      if (this.#again === undefined && failsByContext(report, judges)) return "unsure";
      isBlocked = true;
      break;
    }
    for (const add of adding) add();
    return isBlocked ? "blocked" : "passed";
  }

  async #run(
    scanners: readonly NamedScanner[],
    text: string,
    context = this.#settings.context,
  ): Promise<ScanReport & { text: string }> {
    const { options } = this.#settings;
    const report = await runScanners(scanners, text, context, { ...options, suppress: [] });
    report.coverage.suppressed = [...this.#lists.suppressed];
    return report;
  }

  /** Returns the findings of a scanner of spans that begin behind what was given out before, with their offsets in the whole answer. */
  #newFindings(name: string, findings: readonly Finding[], base: Look): Finding[] {
    const after = this.#readBy(name);
    const known = lengthIn(this.#unit, textAfter(base, after));
    const moved = this.#offsets.get(after) ?? 0;
    return findings.filter(({ start }) => start >= known).map((finding) => shifted(finding, moved));
  }

  /**
   * The report of a look that counts, of the findings which nobody is told of, those behind what was given out before: the others were
   * counted with the looks before it.
   */
  #withNewOmitted(report: ScanReport, base: Look): ScanReport {
    const names = Object.keys(report.coverage.findingsOmitted);
    if (names.length === 0) return report;
    const count = ({ findings, coverage }: ScanReport, name: string) =>
      (findings[name]?.length ?? 0) + (coverage.findingsOmitted[name] ?? 0);
    const findingsOmitted: Record<string, number> = {};
    for (const name of names) {
      const told = this.#newFindings(name, report.findings[name] ?? [], base).length;
      addOmitted(findingsOmitted, name, count(report, name) - count(base.report, name) - told);
    }
    return { ...report, coverage: { ...report.coverage, findingsOmitted } };
  }

  /** Returns the sanitizing scanner whose text a scanner of spans reads. */
  #readBy(name: string): string | undefined {
    let after: string | undefined;
    for (const item of this.#lists.spans) {
      if (item.name === name) break;
      if (item.scanner.sanitizes) after = item.name;
    }
    return after;
  }

  /** Lets the window begin later, so that what has been given out is not scanned again for ever. */
  async #move(from: number): Promise<void> {
    if (from <= 0) return;
    this.#tally.addTimings(this.#answers.timings);
    this.#answers = new AnswerCache();
    const before = this.#base;
    const later = this.#looks.at(-1);
    this.#fence = openFence(this.#text.slice(0, from), this.#fence);
    this.#remember(from);
    const lines = [...this.#found, ...(this.#fence === undefined ? [] : [this.#fence])];
    this.#prefix = lines.map((line) => `${line}\n`).join("");
    this.#before += lengthIn(this.#unit, this.#text.slice(0, from));
    // A slice of a long text keeps all of it in memory, so the window becomes a text of its own.
    this.#text = Buffer.from(this.#text.slice(from), "utf16le").toString("utf16le");
    this.#out -= from;
    this.#word = Math.max(0, this.#word - from);
    this.#looks = [];
    this.#base = await this.#look(this.#out, true);
    for (const after of [undefined, ...before.left.keys()]) {
      const dropped =
        lengthIn(this.#unit, textAfter(before, after)) - lengthIn(this.#unit, textAfter(this.#base, after));
      this.#offsets.set(after, (this.#offsets.get(after) ?? 0) + dropped);
    }
    this.#looks = [];
    if (later) await this.#look(later.end - from, later.isSentence);
  }

  /**
   * Keeps the lines of values that the window leaves behind, for scanners that find a value again.
   *
   * @param from where the window begins next.
   */
  #remember(from: number): void {
    const base = this.#base;
    for (const { name } of this.#lists.repeating) {
      const input = textAfter(base, this.#readBy(name));
      // What the sanitizing scanners before it changed may have moved a value, but not by how far it is from the end.
      const left = input.length - (this.#out - from);
      for (const found of base.report.findings[name] ?? []) {
        const [start, end] = [found.start, found.end].map((at) => utf16Offset(this.#unit, input, at)) as [
          number,
          number,
        ];
        if (start < this.#prefix.length || start >= left || end - start > LONGEST_VALUE) continue;
        const line = input.slice(Math.max(input.lastIndexOf("\n", start) + 1, start - LONGEST_VALUE), end + 1);
        if (!this.#found.includes(line.trimEnd())) this.#found.push(line.trimEnd());
      }
    }
    this.#found = this.#found.slice(-MOST_VALUES);
  }

  /** Returns an offset from which the window may go on: the beginning of a line, or of a word. */
  #start(): number {
    const latest = this.#out - this.#lists.before;
    const line = this.#text.lastIndexOf("\n", latest - 1) + 1;
    if (line > latest - this.#lists.before) return line;
    return Math.max(
      lastWordEnd(this.#text, latest - STEP.last, latest),
      wholeCharacters(this.#text, latest - STEP.last),
    );
  }

  /** Ends an answer that was kept as a whole: all scanners read all of it. */
  async #endWhole(): Promise<StreamScanStep> {
    const whole = this.#whole.join("");
    const { context, options, named } = this.#settings;
    const { byModel, judges } = this.#lists;
    const inputs = new Map<string, string>();
    const scanners = named.map((item) => (byModel.includes(item) ? reading(item, inputs) : item));
    const { text, ...report } = await runScanners(scanners, whole, { ...context, arriving: true }, options);
    const given = this.#given.join("");
    let isBlocked = !this.#hasWavered && !text.startsWith(given);
    let rest = text.slice(given.length);
    const seen = this.#tally.report;
    const sanitizing = named.filter((item) => item.scanner.sanitizes);
    for (const { name } of [...byModel, ...judges.flatMap(({ scanners }) => scanners)]) copyWorse(report, seen, name);
    for (const item of byModel) {
      const { name, scanner } = item;
      const input = inputs.get(name);
      if (input === undefined) continue;
      // While the answer arrived, the model read sentence by sentence. In the whole it may find more.
      const { text: _, ...inWhole } = await this.#run([item], input);
      const known = [...(seen.findings[name] ?? []), ...(this.#hasWavered ? [] : (report.findings[name] ?? []))];
      const missed = (inWhole.findings[name] ?? []).filter((found) => !known.some(adjoins(found)));
      const tookNothing = report.resultsValid[name] !== false;
      copyWorse(report, inWhole, name);
      if (!scanner.sanitizes || missed.length === 0) continue;
      const others = (report.findings[name] ?? []).filter((found) => !missed.includes(found));
      report.findings[name] = [...others, ...missed].sort((a, b) => a.start - b.start);
      // What has not been shown can still be taken out. What has been shown cannot, and to block the rest would not hide it.
      const left = item === sanitizing.at(-1) ? (await this.#run([item], given + rest)).text : "";
      const more = left.startsWith(given) ? left.slice(given.length) : rest;
      const isLeft = missed.some(({ text: value }) => value === undefined || more.includes(value));
      isBlocked ||= isLeft || this.#hasWavered || (tookNothing && more === rest);
      rest = more;
    }
    this.#tally.addTimings(this.#answers.timings);
    addTimes(report, seen);
    if (this.#hasWavered && !isBlocked) {
      const step = await this.#give(await this.#look(this.#text.length, true));
      isBlocked = step.report !== undefined;
      rest = step.text;
    }
    const closed = this.#closed(report, isBlocked);
    return { text: closed.outcome === "blocked" ? "" : rest, report: closed };
  }

  /** Ends an answer that is too long to be kept: the scanners that need all of it read its beginning. */
  async #endLong(): Promise<StreamScanStep> {
    this.#again = this.#length;
    const step = await this.#release(await this.#look(this.#text.length, true));
    if (step.report) return step;
    const { context, options, named } = this.#settings;
    const needed = [...this.#lists.atEnd, ...this.#lists.judges.flatMap(({ scanners }) => scanners)];
    let left = 0;
    if (needed.length > 0) {
      const { text: _, ...report } = await runScanners(named, this.#whole.join(""), context, options);
      const names = new Set(needed.map(({ name }) => name));
      const counted = onlyNames(names, report);
      // What the others found was added part by part.
      const isAtEnd = (name: string) => this.#lists.atEnd.some((item) => item.name === name);
      const findingsOmitted = Object.fromEntries(
        Object.entries(counted.coverage.findingsOmitted).filter(([name]) => isAtEnd(name)),
      );
      const coverage = { ...counted.coverage, chars: 0, scannedChars: 0, findingsOmitted };
      this.#tally.add({ ...counted, coverage }, (name, findings) => (isAtEnd(name) ? findings : []));
      if (this.#lists.atEnd.length > 0) left = this.#length - this.#wholeChars;
    }
    const report = this.#closed(this.#tally.total(this.#chars(), left), false);
    return { text: report.outcome === "blocked" ? "" : step.text, report };
  }

  /**
   * Ends the answer before its end.
   *
   * @param left how much of the answer no scanner has decided about.
   */
  #block(left = this.#text.length - this.#out): StreamScanStep {
    return { text: "", report: this.#closed(this.#tally.total(this.#chars(), left), true) };
  }

  /** The length of the answer in the unit of the caller. */
  #chars(): number {
    if (this.#lists.holdsAll) return this.#length;
    return this.#before + lengthIn(this.#unit, this.#text);
  }

  #closed(report: ScanReport, isBlocked: boolean): StreamReport {
    this.#ended = true;
    this.#text = "";
    this.#whole = [];
    this.#given = [];
    this.#looks = [];
    const { isValid, outcome } = this.#settings.decide(report);
    return {
      ...report,
      isValid: isValid && !isBlocked,
      outcome: isBlocked ? "blocked" : outcome,
      atEnd: this.#lists.atEnd.map(({ name }) => name),
    };
  }
}

const NOTHING: StreamScanStep = Object.freeze({ text: "" });

/** Whether a part fails by scanners alone that say of a part what depends on the text around it. */
function failsByContext({ resultsValid, coverage }: ScanReport, { scanners }: Judges): boolean {
  const failing = scanners.filter(({ name }) => resultsValid[name] === false);
  const isByContext = ({ name, scanner: { streaming } }: NamedScanner) =>
    streaming?.reads === "sentences" && streaming.overlap > 0 && !coverage.failed.includes(name);
  return failing.length > 0 && failing.every(isByContext);
}

/** The text that the scanners behind a sanitizing one read. */
function textAfter({ left, given }: Look, after: string | undefined): string {
  return (after === undefined ? undefined : left.get(after)) ?? given;
}

/** Returns where a part begins that is judged: with its sentence, and after some text that is read again. */
async function beginning(text: string, judged: number, { overlap }: Judges, abortable: Abortable): Promise<number> {
  if (judged <= 0) return 0;
  const first = Math.max(0, judged - Math.max(overlap, LONGEST_SENTENCE));
  const wanted = judged - overlap;
  let from = judged;
  for (const { start, end } of await splitSentences(text.slice(first), abortable)) {
    if (first + end <= wanted) continue;
    from = first + start;
    break;
  }
  return Math.min(from, judged);
}

/** Copies a result that is worse than the one that a report has. */
function copyWorse(to: ScanReport, from: ScanReport, name: string): void {
  const [before, after] = [to.resultsScore[name], from.resultsScore[name]];
  if (before !== undefined && after !== undefined && after > before) copyResult(to, name, from, name);
}

/** Adds the times of scanners and models that a report has to those of another one. */
function addTimes(to: ScanReport, { timing, engineTiming }: ScanReport): void {
  for (const [name, milliseconds] of Object.entries(timing)) to.timing[name] = (to.timing[name] ?? 0) + milliseconds;
  addEngineTimings(to.engineTiming, engineTiming);
}

/** Tells whether findings overlap or adjoin. Models differ in whether they take the title of a person for a part of the name. */
function adjoins({ start, end }: Finding): (other: Finding) => boolean {
  return (other) => other.start <= end + 1 && start <= other.end + 1;
}

/** Adds a piece to a text. Many small pieces take much more memory than one text, so they are put together now and then. */
function keep(pieces: string[], piece: string): void {
  pieces.push(piece);
  if (pieces.length > 512) pieces.splice(0, pieces.length, pieces.join(""));
}

function shifted(finding: Finding, by: number): Finding {
  return { ...finding, start: finding.start + by, end: finding.end + by };
}

/** Returns the scanner, and keeps the text that it is given. */
function reading(item: NamedScanner, inputs: Map<string, string>): NamedScanner {
  return watched(item, (input) => inputs.set(item.name, input));
}

/** Returns the scanner, and keeps the text that it leaves. */
function recorded(item: NamedScanner, left: Map<string, string>): NamedScanner {
  return watched(item, (input, verdict) =>
    left.set(item.name, applyEdits(input, toVerdict(input, verdict)?.edits ?? [])),
  );
}

/** Returns the scanner, and tells what it was given and what it said. */
function watched(
  { name, scanner }: NamedScanner,
  tell: (input: string, verdict: ScannerVerdict) => void,
): NamedScanner {
  const scan = async (text: string, context: ScanContext) => {
    const verdict = await scanner.scan(text, context);
    tell(text, verdict);
    return verdict;
  };
  return { name, scanner: scanningWith(scanner, scan) };
}
