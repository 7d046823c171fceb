import type { Abortable } from "../../native.ts";
import { mergeSpans, type Span } from "../../text/span.ts";
import { splitStatements } from "../../text/statements.ts";
import { applyEdits, type Edit } from "../edits.ts";
import type { Finding, Scanner, Verdict } from "../scanner.ts";
import { PASSED } from "../score.ts";
import { type CompiledException, type Exceptions, wholeException } from "./exceptions.ts";

/** What an exception has removed from a check. */
export interface AppliedException {
  /** The id of the exception. */
  id: string;
  reason: string;
  /** The risk score of the check without the exception. */
  score: number;
  /** The probability of the check without the exception. Absent for rules. */
  probability?: number | undefined;
  /** The findings that do not count. */
  findings: Finding[];
}

/** A verdict after exceptions. */
export interface ExceptedVerdict {
  verdict: Verdict;
  /** The exceptions that applied. Empty if the verdict is unchanged. */
  applied: AppliedException[];
}

/** A whole text within a longer one: a message of a window, or one string of a message. */
export interface PartText extends Span {
  /** The text as the caller sent it, which exact texts are compared with. */
  original: string;
}

/** A failing verdict, and what exceptions are compared with. */
export interface FailedCheck {
  scanner: Scanner;
  /** The text that the scanner read. */
  text: string;
  /** The text as the caller sent it. */
  original: string;
  /** The texts that the text consists of, if there are several. */
  parts: readonly PartText[];
  verdict: Verdict;
  /** Judges another text with the scanner. */
  judge(text: string): Promise<Verdict>;
}

/** How many passages of a text are judged by themselves at most. */
const MAX_ALONE = 16;

/** A passage of a text and the exceptions that contain it. */
interface Passage extends Span {
  exceptions: readonly CompiledException[];
}

/**
 * Applies exceptions to a failing verdict. An exception without a passage, and an exact text, removes the verdict. Passages remove only what
 * is in them, and the rest of the text is judged: see {@link exceptFindings} and {@link exceptStatements}.
 *
 * @param list the exceptions for the scan.
 */
export async function applyExceptions(
  exceptions: Exceptions,
  list: readonly CompiledException[],
  check: FailedCheck,
  abortable: Abortable,
): Promise<ExceptedVerdict> {
  const { verdict, original } = check;
  const unchanged = { verdict, applied: [] };
  if (list.length === 0) return unchanged;
  const whole = wholeException(exceptions, list, original);
  if (whole) {
    const passing = { isValid: true, score: PASSED, findings: [], coverage: verdict.coverage };
    return { verdict: passing, applied: [appliedTo(whole, verdict, verdict.findings)] };
  }
  const passages = await passagesOf(exceptions, list, check);
  if (passages.length === 0) return unchanged;
  const { probability } = verdict;
  const isByRules = probability === undefined || check.scanner.sanitizes || check.scanner.vaultScope !== undefined;
  return isByRules ? exceptFindings(passages, check) : exceptStatements(passages, check, abortable);
}

async function passagesOf(
  exceptions: Exceptions,
  list: readonly CompiledException[],
  { text, parts }: FailedCheck,
): Promise<Passage[]> {
  const found: Passage[] = [];
  for (const exception of list) {
    for (const { start, end } of (await exception.passagesIn?.(text)) ?? []) {
      if (end > start) found.push({ start, end, exceptions: [exception] });
    }
  }
  const byHash = new Map(list.flatMap((exception) => (exception.textHash ? [[exception.textHash, exception]] : [])));
  for (const { start, end, original } of byHash.size > 0 && parts.length > 1 ? parts : []) {
    const exception = byHash.get(exceptions.hashOf(original));
    if (exception && end > start) found.push({ start, end, exceptions: [exception] });
  }
  return mergePassages(found);
}

/** Returns passages in ascending order, with overlapping passages joined. */
function mergePassages(found: readonly Passage[]): Passage[] {
  return mergeSpans(found).map((span) => {
    const inside = found.filter(({ start, end }) => start >= span.start && end <= span.end);
    return { ...span, exceptions: [...new Set(inside.flatMap(({ exceptions }) => exceptions))] };
  });
}

/**
 * Removes the findings within passages, for scanners whose findings are the exact places of what failed. If no finding is left, the scanner
 * also judges the text with blanks in place of the passages, because some scanners report only their first finding.
 */
async function exceptFindings(passages: readonly Passage[], check: FailedCheck): Promise<ExceptedVerdict> {
  const { verdict, scanner, text, judge } = check;
  const within = ({ start, end }: Span) =>
    end > start && passages.some((passage) => passage.start <= start && end <= passage.end);
  const removed = verdict.findings.filter(within);
  if (removed.length === 0) return { verdict, applied: [] };
  const applied = appliedIn(passages, verdict, removed).filter((one) => one.findings.length > 0);
  const findings = verdict.findings.filter((finding) => !within(finding));
  if (findings.length > 0 || verdict.coverage.findingsOmitted !== undefined) {
    return {
      verdict: withEdits(
        { ...verdict, findings },
        verdict.edits?.filter((edit) => !within(edit)),
      ),
      applied,
    };
  }
  const { coverage } = verdict;
  const passing: Verdict = { isValid: true, score: PASSED, findings: [], coverage };
  // A second scan would add values to the vault twice, may differ, or would compare another text with the conversation.
  const isRepeatable = scanner.vaultScope === undefined && !scanner.volatile && !scanner.conversation?.dependsOnOthers;
  const rest = isRepeatable ? await judge(blanked(text, passages)) : passing;
  return { verdict: rest.isValid ? { ...passing, score: rest.score } : { ...rest, coverage }, applied };
}

/**
 * Removes whole statements, for scanners that judge a text as a whole. Such a verdict belongs to all words together, so a passage counts only
 * if it consists of whole statements. The text passes if one of the passages fails by itself and the rest passes by itself: then the passages
 * are the reason, and the rest needs none of their words.
 */
async function exceptStatements(
  passages: readonly Passage[],
  { verdict, text, parts, judge }: FailedCheck,
  abortable: Abortable,
): Promise<ExceptedVerdict> {
  const unchanged = { verdict, applied: [] };
  const segments = await segmentsOf(text, parts, abortable);
  const statements = mergePassages(passages.flatMap((passage) => wholeStatement(text, segments, passage) ?? []));
  if (statements.length === 0) return unchanged;
  const rest = withoutPassages(text, statements);
  if (rest !== "") {
    if (!(await someFails(statements, text, judge))) return unchanged;
    const ofRest = await judge(rest);
    if (!ofRest.isValid) return unchanged;
    const { score, probability } = ofRest;
    return {
      verdict: passingWith(verdict, score, probability),
      applied: appliedIn(statements, verdict, verdict.findings),
    };
  }
  return { verdict: passingWith(verdict, PASSED), applied: appliedIn(statements, verdict, verdict.findings) };
}

async function someFails(passages: readonly Span[], text: string, judge: FailedCheck["judge"]): Promise<boolean> {
  for (const { start, end } of passages.slice(0, MAX_ALONE)) {
    if (!(await judge(text.slice(start, end))).isValid) return true;
  }
  return false;
}

function passingWith({ coverage }: Verdict, score: number, probability?: number): Verdict {
  return { isValid: true, score, ...(probability === undefined ? {} : { probability }), findings: [], coverage };
}

/** Returns the statements of a text, cut at the borders of its parts. */
async function segmentsOf(text: string, parts: readonly PartText[], abortable: Abortable): Promise<Span[]> {
  const borders = parts.flatMap(({ start, end }) => [start, end]);
  return (await splitStatements(text, abortable)).flatMap(({ start, end }) => {
    const cuts = [start, ...borders.filter((border) => border > start && border < end), end];
    return cuts.slice(1).flatMap((cut, index) => trimmed(text, { start: cuts[index] as number, end: cut }) ?? []);
  });
}

/** Characters that may be around the words of a statement. */
const AROUND_WORDS = /^[\p{P}\s]*$/u;

/** Extends a passage by punctuation to whole segments. Undefined if it leaves words of a segment. */
function wholeStatement(text: string, segments: readonly Span[], passage: Passage): Passage | undefined {
  const own = trimmed(text, passage);
  const inside = own ? segments.filter(({ start, end }) => start < own.end && end > own.start) : [];
  const [first, last] = [inside[0], inside.at(-1)];
  if (!own || !first || !last) return undefined;
  const start = Math.min(own.start, first.start);
  const end = Math.max(own.end, last.end);
  const isWhole = AROUND_WORDS.test(text.slice(start, own.start)) && AROUND_WORDS.test(text.slice(own.end, end));
  return isWhole ? { ...passage, start, end } : undefined;
}

/** Returns a span without the white space at its ends, or undefined if it contains nothing else. */
function trimmed(text: string, { start, end }: Span): Span | undefined {
  const inside = text.slice(start, end);
  const from = start + inside.length - inside.trimStart().length;
  return inside.trim() === "" ? undefined : { start: from, end: from + inside.trim().length };
}

/** Cuts passages out. What was before and after a passage follows each other, as if the passage had never been there. */
function withoutPassages(text: string, passages: readonly Span[]): string {
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of [...passages, { start: text.length, end: text.length }]) {
    kept.push(text.slice(from, start));
    from = end;
  }
  return kept
    .reduce((left, right) => {
      const [before, after] = [left.trimEnd(), right.trimStart()];
      const isBroken = `${left.slice(before.length)}${right.slice(0, right.length - after.length)}`.includes("\n");
      return before + (isBroken ? "\n" : " ") + after;
    })
    .trim();
}

/** Replaces passages with blanks, so that offsets stay the same. */
function blanked(text: string, passages: readonly Span[]): string {
  const edits = passages.map(({ start, end }) => {
    return { start, end, replacement: text.slice(start, end).replace(/[^\n]/g, " ") };
  });
  return applyEdits(text, edits);
}

function withEdits({ edits: _, ...verdict }: Verdict, edits: readonly Edit[] | undefined): Verdict {
  return edits && edits.length > 0 ? { ...verdict, edits: [...edits] } : verdict;
}

/** Returns the exceptions of passages, each with the findings that overlap its passages. */
function appliedIn(passages: readonly Passage[], verdict: Verdict, findings: readonly Finding[]): AppliedException[] {
  const all = new Set(passages.flatMap(({ exceptions }) => exceptions));
  return [...all].map((exception) => {
    const own = passages.filter(({ exceptions }) => exceptions.includes(exception));
    const inside = findings.filter(({ start, end }) => own.some((span) => start < span.end && end > span.start));
    return appliedTo(exception, verdict, inside);
  });
}

function appliedTo({ id, reason }: CompiledException, verdict: Verdict, findings: Finding[]): AppliedException {
  const { score, probability } = verdict;
  return { id, reason, score, ...(probability === undefined ? {} : { probability }), findings: [...findings] };
}
