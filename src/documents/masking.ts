import type { Abortable } from "../native.ts";
import { fails, isValid, type ScanResult } from "../scan/check-result.ts";
import type { Finding } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { firstIndexWhere } from "../support/binary-search.ts";
import type { Span } from "../text/span.ts";
import { type CutResult, cutStatements, splitStatements } from "../text/statements.ts";

/** The verdict of the masking scanners on a text. */
export interface PartVerdict {
  isValid: boolean;
  /** The findings of the scanners that fail the text. */
  findings: readonly Finding[];
  /** The highest probability of these scanners, 0..1. It is 0 without a probability. */
  probability: number;
}

/** Returns the verdict of the masking scanners, for {@link maskText}. Offsets count UTF-16 code units. */
export function partVerdict(result: ScanResult, text: string): PartVerdict {
  const findings = result.checks.flatMap((check): Finding[] => {
    if (!fails(check)) return [];
    // A scanner without findings fails the whole text.
    const whole = { start: 0, end: text.length, type: "injection", score: check.probability ?? FAILED };
    return check.findings.length > 0 ? check.findings : [whole];
  });
  const probability = Math.max(0, ...result.checks.map((check) => check.probability ?? 0));
  return { isValid: isValid(result), findings, probability };
}

/** The rest of a text after masking. */
export interface MaskedText {
  text: string;
  /** The number of statements that were cut. */
  statements: number;
  /** The cuts as findings in the original text, in ascending order. The text without their spans is the rest. */
  cuts: Finding[];
}

/**
 * The maximum number of rounds of cutting and judging. The rest may fail elsewhere, because a model reads it in other windows. In the last
 * round, failing spans are cut as a whole.
 */
const ROUNDS = 5;

/**
 * The maximum number of parts of a text that are judged alone. A window of the embedded model, 512 tokens, contains about twenty
 * sentences, so this suffices for a dozen failing windows. Beyond it, failing spans are cut as a whole.
 */
const MAX_QUESTIONS = 256;

/**
 * The minimum probability of a statement beside an attack to count as a part of it: an attack is then more likely than not. The threshold
 * of a scanner is higher, because it must hold for texts without any suspicion.
 */
const MIN_PROBABILITY = 0.5;

/** The reason for a cut, from a finding. */
type CutReason = Pick<Finding, "type" | "score" | "label">;

/** Failing statements, by index. */
type FailingStatements = Map<number, CutReason>;

/**
 * Cuts the failing statements out of a failing text, and keeps the rest.
 *
 * A scanner often fails a whole window of a text. The statements in it are then judged one by one. Those that fail are cut, with neighbouring
 * statements that are likely a part of the same attack. If none fails alone, neighbours are judged in pairs. If no pair fails either, the
 * statement is cut without which the window passes, or else the whole window. Then the rest is judged again.
 *
 * @param judge judges a text. It is called twice for some texts, and should cache its verdicts.
 * @param known the verdict of `judge` on the whole text.
 * @returns the rest of the text. It may still fail, and it is empty if the whole text had to be cut.
 */
export async function maskText(
  text: string,
  judge: (text: string) => Promise<PartVerdict>,
  known: PartVerdict,
  abortable?: Abortable,
): Promise<MaskedText> {
  const statements = await splitStatements(text, abortable);
  const parts = new PartJudge(text, statements, judge);
  const failing: FailingStatements = new Map();
  let left: CutResult = { text, spans: [] };
  let verdict = known;
  for (let round = 1; round <= ROUNDS && !verdict.isValid && left.text !== ""; round++) {
    const found: FailingStatements = new Map();
    for (const { candidates, reason } of statementsByFinding(verdict.findings, statements, failing, left.spans)) {
      // Windows overlap. The next round shows whether a window still fails without the statements found in another one.
      if (candidates.some((index) => found.has(index))) continue;
      const own = round < ROUNDS ? await parts.failingAmong(candidates, reason) : new Map<number, CutReason>();
      for (const index of own.size > 0 ? own.keys() : candidates) found.set(index, own.get(index) ?? reason);
    }
    if (found.size === 0) break;
    for (const [index, reason] of found) failing.set(index, reason);
    left = cutStatements(text, statements, new Set(failing.keys()));
    verdict = await judge(left.text);
  }
  return { text: left.text, statements: failing.size, cuts: cutsOf(text, statements, failing, left.spans) };
}

/** Judges parts of a text, to find its failing statements. */
class PartJudge {
  readonly #text: string;
  readonly #statements: readonly Span[];
  readonly #judge: (text: string) => Promise<PartVerdict>;
  #questions = 0;

  constructor(text: string, statements: readonly Span[], judge: (text: string) => Promise<PartVerdict>) {
    this.#text = text;
    this.#statements = statements;
    this.#judge = judge;
  }

  /**
   * Returns the failing statements among candidates, or none if they cannot be determined.
   *
   * @param candidates the indices of the statements in a failing span, in ascending order.
   * @param reason the finding of the span.
   */
  async failingAmong(candidates: readonly number[], reason: CutReason): Promise<FailingStatements> {
    if (candidates.length < 2) return new Map();
    const alone = await this.#alone(candidates);
    if (alone.size > 0) return alone;
    const inPairs = await this.#inPairs(candidates);
    return inPairs.size > 0 ? inPairs : this.#decisiveStatement(candidates, reason);
  }

  /** Returns the statements that fail alone, with neighbours that are likely a part of the same attack. */
  async #alone(candidates: readonly number[]): Promise<FailingStatements> {
    const judged = await this.#judgeAll(candidates.map((index) => this.#slice(index, index)));
    const failing = failingStatements(candidates, judged);
    for (const step of [1, -1]) {
      for (const [at, index] of step > 0 ? [...candidates.entries()] : [...candidates.entries()].reverse()) {
        const beside = failing.get(index - step);
        const probability = judged[at]?.probability ?? 0;
        if (beside && !failing.has(index) && probability >= MIN_PROBABILITY) {
          failing.set(index, { ...beside, score: probability });
        }
      }
    }
    return failing;
  }

  /** Returns the statements of failing pairs of neighbours. If two such pairs overlap, their common statement fails. */
  async #inPairs(candidates: readonly number[]): Promise<FailingStatements> {
    const firsts = candidates.filter((index, at) => candidates[at + 1] === index + 1);
    const pairs = failingStatements(firsts, await this.#judgeAll(firsts.map((index) => this.#slice(index, index + 1))));
    const failing: FailingStatements = new Map();
    for (const [index, reason] of pairs) {
      const [sharesFirst, sharesSecond] = [pairs.has(index - 1), pairs.has(index + 1)];
      if (sharesFirst || !sharesSecond) failing.set(index, reason);
      if (sharesSecond || !sharesFirst) failing.set(index + 1, reason);
    }
    return failing;
  }

  /** Returns the statement whose removal makes the others pass, with the lowest probability. */
  async #decisiveStatement(candidates: readonly number[], reason: CutReason): Promise<FailingStatements> {
    const judged = await this.#judgeAll(candidates.map((index) => this.#joined(candidates, index)));
    let best: number | undefined;
    for (const [at, { isValid, probability }] of judged.entries()) {
      if (isValid && probability < (judged[best ?? -1]?.probability ?? Number.POSITIVE_INFINITY)) best = at;
    }
    return new Map(best === undefined ? [] : [[candidates[best] as number, reason]]);
  }

  /** Judges parts of the text. Returns an empty list if too many parts have been judged. */
  async #judgeAll(parts: readonly string[]): Promise<readonly PartVerdict[]> {
    this.#questions += parts.length;
    return this.#questions > MAX_QUESTIONS ? [] : Promise.all(parts.map((part) => this.#judge(part)));
  }

  #slice(first: number, last: number): string {
    return this.#text.slice(this.#statements[first]?.start, this.#statements[last]?.end);
  }

  /** Joins the statements `indices` except `without`. */
  #joined(indices: readonly number[], without: number): string {
    const cut = new Set(this.#statements.keys());
    for (const index of indices) if (index !== without) cut.delete(index);
    return cutStatements(this.#text, this.#statements, cut).text;
  }
}

/** Returns the findings of the failing parts, by the numbers at the same positions of `indices`. */
function failingStatements(indices: readonly number[], judged: readonly PartVerdict[]): FailingStatements {
  const failing: FailingStatements = new Map();
  for (const [at, { isValid, findings }] of judged.entries()) {
    const worst = findings.reduce<Finding | undefined>(
      (most, finding) => (most && most.score >= finding.score ? most : finding),
      undefined,
    );
    if (!isValid && worst) failing.set(indices[at] as number, cutReason(worst));
  }
  return failing;
}

function cutReason({ type, score, label }: Finding): CutReason {
  return { type, score, ...(label === undefined ? {} : { label }) };
}

/** Returns the remaining statements of each finding. Findings without remaining statements are omitted. */
function statementsByFinding(
  findings: readonly Finding[],
  statements: readonly Span[],
  failing: FailingStatements,
  cut: readonly Span[],
): { candidates: number[]; reason: CutReason }[] {
  const open: { index: number; start: number; end: number }[] = [];
  let next = 0;
  let removed = 0;
  for (const [index, { start, end }] of statements.entries()) {
    for (; (cut[next]?.end ?? Number.POSITIVE_INFINITY) <= start; next++) {
      removed += (cut[next] as Span).end - (cut[next] as Span).start;
    }
    if (!failing.has(index)) open.push({ index, start: start - removed, end: end - removed });
  }
  return findings.flatMap((finding) => {
    // The statements are ordered and disjoint.
    const first = firstIndexWhere(open, ({ end }) => end > finding.start);
    const candidates: number[] = [];
    for (let at = first; at < open.length; at++) {
      const { index, start } = open[at] as (typeof open)[number];
      if (start >= finding.end) break;
      candidates.push(index);
    }
    return candidates.length > 0 ? [{ candidates, reason: cutReason(finding) }] : [];
  });
}

/** Returns the spans as findings, each with the reason of its worst statement. */
function cutsOf(
  text: string,
  statements: readonly Span[],
  failing: FailingStatements,
  spans: readonly Span[],
): Finding[] {
  const ordered = [...failing].sort(([a], [b]) => a - b);
  let next = 0;
  return spans.map(({ start, end }) => {
    let worst: CutReason | undefined;
    for (; next < ordered.length; next++) {
      const [index, reason] = ordered[next] as (typeof ordered)[number];
      if ((statements[index] as Span).start >= end) break;
      if (!worst || reason.score > worst.score) worst = reason;
    }
    return { start, end, text: text.slice(start, end), ...(worst as CutReason) };
  });
}
