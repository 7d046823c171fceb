import { type CheckResult, findCheck, type ScanResult } from "../scan/check-result.ts";
import { EditedText } from "../scan/edits.ts";
import { Locator } from "../scan/locator.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import type { ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { Finding, ScanContext } from "../scan/scanner.ts";
import { scanText } from "../scan/text-scan.ts";
import { predecessorOf, type StreamScanners } from "./stream-scanners.ts";

/** The kept beginning of an answer, for scanners of whole answers, and the released text. */
export class WholeAnswer {
  readonly #maxChars: number;
  #length = 0;
  #kept: string[] = [];
  #released: string[] = [];

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** The length of the answer so far, in UTF-16 code units. */
  get length(): number {
    return this.#length;
  }

  /** Whether the whole answer was kept. */
  get isComplete(): boolean {
    return this.#length <= this.#maxChars;
  }

  /** The kept part of the answer. */
  get text(): string {
    return this.#kept.join("");
  }

  /** The released part of a kept answer. */
  get released(): string {
    return this.#released.join("");
  }

  append(piece: string): void {
    if (this.#length < this.#maxChars) addPiece(this.#kept, piece.slice(0, this.#maxChars - this.#length));
    this.#length += piece.length;
    if (!this.isComplete) this.#released = [];
  }

  release(text: string): void {
    if (this.isComplete) addPiece(this.#released, text);
  }

  clear(): void {
    this.#kept = [];
    this.#released = [];
  }
}

/** Adds a piece to a text. Many small pieces take much more memory than one text, so they are joined periodically. */
function addPiece(pieces: string[], piece: string): void {
  pieces.push(piece);
  if (pieces.length > 512) pieces.splice(0, pieces.length, pieces.join(""));
}

/** The settings of the final scan of an answer. */
interface WholeScanSettings {
  named: readonly NamedScanner[];
  scanners: StreamScanners;
  context: ScanContext;
  options: RunOptions;
  /** The results for the parts of the answer. */
  seen: ScanResult;
  /** Whether a model has changed its answer about released text. */
  hasWavered: boolean;
}

/** The result of all scanners for a whole answer. */
interface WholeScan {
  result: ScanResult;
  engineTiming: ScanReport["engineTiming"];
  /** The text that has not been released. */
  rest: string;
  /** Whether the rest must be blocked. */
  isBlocked: boolean;
}

/** Scans a whole answer with all scanners, and decides about the unreleased text. */
export async function scanWholeAnswer(answer: WholeAnswer, settings: WholeScanSettings): Promise<WholeScan> {
  const { named, scanners, context, options, seen, hasWavered } = settings;
  const rewritten = new Map<string, EditedText>();
  const onRewritten = (name: string, text: EditedText) => rewritten.set(name, text);
  const original = answer.text;
  const {
    text,
    edits: _,
    engineTiming,
    ...result
  } = await scanText(
    named,
    original,
    Object.assign({}, context, { arriving: true }),
    Object.assign({}, options, { scope: "output", onRewritten } as const),
  );
  const { released } = answer;
  const whole = {
    result,
    engineTiming,
    rest: text.slice(released.length),
    isBlocked: !hasWavered && !text.startsWith(released),
  };
  const inParts = [...scanners.byModel, ...scanners.parts.flatMap((part) => part.scanners)];
  for (const { name } of inParts) takeWorse(result, seen, name);
  for (const check of result.checks) check.timing += findCheck(seen, check)?.timing ?? 0;
  for (const item of scanners.byModel) {
    const after = predecessorOf(named, item.name);
    const input = (after === undefined ? undefined : rewritten.get(after)) ?? new EditedText(original);
    await scanAgain(item, input, whole, { settings, released });
  }
  return whole;
}

/**
 * Scans the whole answer with a scanner that has a model. While the answer arrived, the model read single sentences. In the whole answer it
 * may find more.
 */
async function scanAgain(
  item: NamedScanner,
  input: EditedText,
  whole: WholeScan,
  { settings, released }: { settings: WholeScanSettings; released: string },
): Promise<void> {
  const { context, options, named, seen, hasWavered } = settings;
  const id = { scanner: item.name, scope: "output" } as const;
  const check = findCheck(whole.result, id);
  // With failFast a scanner after a failing one did not run.
  if (!check) return;
  const run = (text: string, offsets: RunOptions["offsets"]) =>
    scanText([item], text, context, Object.assign({}, options, { scope: "output", suppress: [], offsets } as const));
  const inWhole = await run(input.text, "utf16");
  const wholeCheck = findCheck(inWhole, id);
  const found = originalFindings(wholeCheck?.findings ?? [], input, options.offsets);
  if (wholeCheck) wholeCheck.findings = found;
  const known = [...(findCheck(seen, id)?.findings ?? []), ...(hasWavered ? [] : check.findings)];
  const missed = found.filter((finding) => !known.some(adjacencyTest(finding)));
  const tookNothing = check.isValid;
  takeWorse(whole.result, inWhole, item.name);
  if (!item.scanner.sanitizes || missed.length === 0) return;
  const current = findCheck(whole.result, id) as CheckResult;
  const others = current.findings.filter((finding) => !missed.includes(finding));
  current.findings = [...others, ...missed].sort((a, b) => a.start - b.start);
  // Findings in unreleased text can be removed. Those in released text cannot, and blocking the rest would not hide them.
  const isLast = item === named.filter(({ scanner }) => scanner.sanitizes).at(-1);
  const left = isLast ? (await run(released + whole.rest, "utf16")).text : "";
  const more = left.startsWith(released) ? left.slice(released.length) : whole.rest;
  const isLeft = missed.some(({ text: value }) => value === undefined || more.includes(value));
  whole.isBlocked ||= isLeft || hasWavered || (tookNothing && more === whole.rest);
  whole.rest = more;
}

/** Maps findings in a rewritten text to the original answer. */
function originalFindings(findings: readonly Finding[], input: EditedText, unit: RunOptions["offsets"]): Finding[] {
  const spans = input.originalSpans(findings);
  const mapped = findings.map((finding, index): Finding => Object.assign({}, finding, spans[index]));
  return new Locator(input.original, undefined, unit ?? "utf16").located(mapped);
}

/** Copies the check of a scanner from another result if it is worse, or if only the other one is in review. Timings are kept. */
function takeWorse(to: ScanResult, from: ScanResult, scanner: string): void {
  const index = to.checks.findIndex((check) => check.scanner === scanner);
  const known = to.checks[index];
  const other = from.checks.find((check) => check.scanner === scanner);
  if (!known || !other) return;
  const needsReview = known.outcome === "passed" && other.outcome === "review";
  if (other.score <= known.score && !needsReview) return;
  const { edits: _, ...worse } = other;
  to.checks[index] = Object.assign(worse, { timing: 0 });
}

/** Whether findings overlap or adjoin. Models differ in whether they take a person's title for a part of the name. */
function adjacencyTest({ start, end }: Finding): (other: Finding) => boolean {
  return (other) => other.start <= end + 1 && start <= other.end + 1;
}
