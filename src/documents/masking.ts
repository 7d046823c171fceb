import type { Abortable } from "../native.ts";
import { isValid, type ScanResult } from "../scan/check-result.ts";
import type { Finding } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import type { Span } from "../text/span.ts";
import { type CutResult, cutStatements, splitStatements } from "../text/statements.ts";

/** What the masking scanners say about a text. */
export interface PartVerdict {
  isValid: boolean;
  /** The findings of the scanners that fail the text. */
  findings: readonly Finding[];
  /** The highest probability that one of them gave, 0..1; 0 when none gave one. */
  probability: number;
}

/** Returns what the masking scanners say about a text, for {@link maskText}. Offsets of the result count UTF-16 code units. */
export function partVerdict(result: ScanResult, text: string): PartVerdict {
  const findings = result.checks.flatMap((check): Finding[] => {
    if (check.isValid) return [];
    // A scanner without findings means the whole text.
    const whole = { start: 0, end: text.length, type: "injection", score: check.probability ?? FAILED };
    return check.findings.length > 0 ? check.findings : [whole];
  });
  const probability = Math.max(0, ...result.checks.map((check) => check.probability ?? 0));
  return { isValid: isValid(result), findings, probability };
}

/** What is left of a text after masking. */
export interface MaskedText {
  text: string;
  /** How many statements were cut. */
  statements: number;
  /** What was cut, as findings in the text as given, in ascending order. The text without their spans is what is left. */
  cuts: Finding[];
}

/**
 * How often a text is cut and judged again. What is left may fail in another place, because a model reads it in other windows. In
 * the last round the places that fail are cut as a whole.
 */
const ROUNDS = 5;

/**
 * How many parts of one text are judged by themselves. A window of the embedded model, 512 tokens, holds about twenty sentences, so
 * this is enough for a dozen windows that fail. Beyond it, the places that fail are cut as a whole.
 */
const MOST_QUESTIONS = 256;

/**
 * The probability from which a statement beside an attack counts as a part of it: an attack is then likelier than not. The threshold
 * of a scanner is higher, since it has to hold for texts of which nothing is known yet.
 */
const MIN_PROBABILITY = 0.5;

/** Why a statement is cut: what a finding says of it. */
type CutReason = Pick<Finding, "type" | "score" | "label">;

/** Statements that are at fault, by their indices. */
type FailingStatements = Map<number, CutReason>;

/**
 * Cuts out of a text that fails the statements by which it fails, and keeps the rest.
 *
 * A scanner often fails a whole window of a text. The statements in it are then judged one by one, and those that fail are cut, with
 * statements beside them that are likely a part of the same attack. When none fails alone, neighbours are judged in pairs. When
 * none of the pairs fails either, the statement is cut without which the window passes, and if there is none, the whole window.
 * What is left is judged again.
 *
 * @param judge judges a text. It is asked some questions twice, and should remember its answers.
 * @param known what `judge` says of the whole text.
 * @returns what is left. It may still fail, and it is empty when all of the text had to be cut.
 */
export async function maskText(
  text: string,
  judge: (text: string) => Promise<PartVerdict>,
  known: PartVerdict,
  abortable?: Abortable,
): Promise<MaskedText> {
  const statements = await splitStatements(text, abortable);
  const parts = new PartJudge(text, statements, judge);
  const culprits: FailingStatements = new Map();
  let left: CutResult = { text, spans: [] };
  let verdict = known;
  for (let round = 1; round <= ROUNDS && !verdict.isValid && left.text !== ""; round++) {
    const found: FailingStatements = new Map();
    for (const { candidates, offence } of statementsByFinding(verdict.findings, statements, culprits, left.spans)) {
      // Windows overlap. Whether one still fails without what was found in another one shows in the next round.
      if (candidates.some((index) => found.has(index))) continue;
      const own = round < ROUNDS ? await parts.culpritsAmong(candidates, offence) : new Map<number, CutReason>();
      for (const index of own.size > 0 ? own.keys() : candidates) found.set(index, own.get(index) ?? offence);
    }
    if (found.size === 0) break;
    for (const [index, offence] of found) culprits.set(index, offence);
    left = cutStatements(text, statements, new Set(culprits.keys()));
    verdict = await judge(left.text);
  }
  return { text: left.text, statements: culprits.size, cuts: cutsOf(text, statements, culprits, left.spans) };
}

/** Judges parts of a text, to find out which of its statements are at fault. */
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
   * Returns the statements that are at fault among candidates, none when that cannot be told.
   *
   * @param candidates the indices of the statements of a place that fails, in ascending order.
   * @param offence what is said of the place.
   */
  async culpritsAmong(candidates: readonly number[], offence: CutReason): Promise<FailingStatements> {
    if (candidates.length < 2) return new Map();
    const alone = await this.#alone(candidates);
    if (alone.size > 0) return alone;
    const inPairs = await this.#inPairs(candidates);
    return inPairs.size > 0 ? inPairs : this.#withoutWhich(candidates, offence);
  }

  /** The statements that fail alone, with those beside them that are likely a part of the same attack. */
  async #alone(candidates: readonly number[]): Promise<FailingStatements> {
    const judged = await this.#judgeAll(candidates.map((index) => this.#slice(index, index)));
    const culprits = failingStatements(candidates, judged);
    for (const step of [1, -1]) {
      for (const [at, index] of step > 0 ? [...candidates.entries()] : [...candidates.entries()].reverse()) {
        const beside = culprits.get(index - step);
        const probability = judged[at]?.probability ?? 0;
        if (beside && !culprits.has(index) && probability >= MIN_PROBABILITY) {
          culprits.set(index, { ...beside, score: probability });
        }
      }
    }
    return culprits;
  }

  /** The statements of neighbouring pairs that fail. When two such pairs overlap, what they share is at fault. */
  async #inPairs(candidates: readonly number[]): Promise<FailingStatements> {
    const firsts = candidates.filter((index, at) => candidates[at + 1] === index + 1);
    const pairs = failingStatements(firsts, await this.#judgeAll(firsts.map((index) => this.#slice(index, index + 1))));
    const culprits: FailingStatements = new Map();
    for (const [index, offence] of pairs) {
      const [sharesFirst, sharesSecond] = [pairs.has(index - 1), pairs.has(index + 1)];
      if (sharesFirst || !sharesSecond) culprits.set(index, offence);
      if (sharesSecond || !sharesFirst) culprits.set(index + 1, offence);
    }
    return culprits;
  }

  /** The statement without which the others pass, and pass best. */
  async #withoutWhich(candidates: readonly number[], offence: CutReason): Promise<FailingStatements> {
    const judged = await this.#judgeAll(candidates.map((index) => this.#joined(candidates, index)));
    let best: number | undefined;
    for (const [at, { isValid, probability }] of judged.entries()) {
      if (isValid && probability < (judged[best ?? -1]?.probability ?? Number.POSITIVE_INFINITY)) best = at;
    }
    return new Map(best === undefined ? [] : [[candidates[best] as number, offence]]);
  }

  /** Judges parts of the text. The list is empty when too many have been judged already. */
  async #judgeAll(parts: readonly string[]): Promise<readonly PartVerdict[]> {
    this.#questions += parts.length;
    return this.#questions > MOST_QUESTIONS ? [] : Promise.all(parts.map((part) => this.#judge(part)));
  }

  #slice(first: number, last: number): string {
    return this.#text.slice(this.#statements[first]?.start, this.#statements[last]?.end);
  }

  /** The text of some statements without one of them. */
  #joined(indices: readonly number[], without: number): string {
    const cut = new Set(this.#statements.keys());
    for (const index of indices) if (index !== without) cut.delete(index);
    return cutStatements(this.#text, this.#statements, cut).text;
  }
}

/** The offences of the parts that fail, by the numbers that stand in the same places of `indices`. */
function failingStatements(indices: readonly number[], judged: readonly PartVerdict[]): FailingStatements {
  const culprits: FailingStatements = new Map();
  for (const [at, { isValid, findings }] of judged.entries()) {
    const worst = findings.reduce<Finding | undefined>(
      (most, finding) => (most && most.score >= finding.score ? most : finding),
      undefined,
    );
    if (!isValid && worst) culprits.set(indices[at] as number, cutReason(worst));
  }
  return culprits;
}

function cutReason({ type, score, label }: Finding): CutReason {
  return { type, score, ...(label === undefined ? {} : { label }) };
}

/** The statements that are still there at the place of each finding. A place without such statements is left out. */
function statementsByFinding(
  findings: readonly Finding[],
  statements: readonly Span[],
  culprits: FailingStatements,
  cut: readonly Span[],
): { candidates: number[]; offence: CutReason }[] {
  const open: { index: number; start: number; end: number }[] = [];
  let next = 0;
  let gone = 0;
  for (const [index, { start, end }] of statements.entries()) {
    for (; (cut[next]?.end ?? Number.POSITIVE_INFINITY) <= start; next++) {
      gone += (cut[next] as Span).end - (cut[next] as Span).start;
    }
    if (!culprits.has(index)) open.push({ index, start: start - gone, end: end - gone });
  }
  return findings.flatMap((finding) => {
    // The statements are in order and apart, so the first one that counts is found by halving.
    let [low, high] = [0, open.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((open[middle] as (typeof open)[number]).end <= finding.start) low = middle + 1;
      else high = middle;
    }
    const candidates: number[] = [];
    for (; low < open.length; low++) {
      const { index, start } = open[low] as (typeof open)[number];
      if (start >= finding.end) break;
      candidates.push(index);
    }
    return candidates.length > 0 ? [{ candidates, offence: cutReason(finding) }] : [];
  });
}

/** Says of each span that was cut what its worst statement says. */
function cutsOf(
  text: string,
  statements: readonly Span[],
  culprits: FailingStatements,
  spans: readonly Span[],
): Finding[] {
  const ordered = [...culprits].sort(([a], [b]) => a - b);
  let next = 0;
  return spans.map(({ start, end }) => {
    let worst: CutReason | undefined;
    for (; next < ordered.length; next++) {
      const [index, offence] = ordered[next] as (typeof ordered)[number];
      if ((statements[index] as Span).start >= end) break;
      if (!worst || offence.score > worst.score) worst = offence;
    }
    return { start, end, text: text.slice(start, end), ...(worst as CutReason) };
  });
}
