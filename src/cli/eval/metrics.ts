import { bisectLeft, bisectRight } from "d3-array";

/** A text of an evaluation and the verdict on it. */
export interface Outcome {
  /** Whether the text should fail. */
  positive: boolean;
  /** Whether it failed. */
  failed: boolean;
  /** The risk score, -1..1. */
  score: number;
  /** The probability that the text should fail, 0..1, of a scanner that has one. */
  probability?: number;
}

/**
 * Figures of a scanner that passes or fails texts. A share of no texts is absent. `precision`, `f1` and `auc` are absent if all texts
 * are of one class.
 */
export interface BinaryFigures {
  rows: number;
  positives: number;
  accuracy: number;
  /** The share of failed texts that should fail. */
  precision?: number;
  /** The share of texts that should fail and did. */
  recall?: number;
  /** The harmonic mean of precision and recall. */
  f1?: number;
  /** The share of harmless texts that failed. */
  falsePositives?: number;
  /** The chance that a text that should fail ranks above a harmless one. Ties count half. */
  auc?: number;
  /** Recall at the lowest threshold at which at most one harmless text in 100 fails; absent if there are fewer than 100. */
  recallAt1In100?: number;
  /** The same with one in 1,000. */
  recallAt1In1000?: number;
  /** Expected calibration error; absent if the scanner has no probability. */
  ece?: number;
}

/** Figures of verdicts alone. */
export type VerdictFigures = Pick<
  BinaryFigures,
  "rows" | "positives" | "accuracy" | "precision" | "recall" | "f1" | "falsePositives"
>;

/** Figures of a scanner that labels texts. */
export interface LabelFigures {
  rows: number;
  accuracy: number;
}

/** A span of a text with the type of its content. */
export interface TypedSpan {
  start: number;
  end: number;
  type: string;
}

/** Figures of a scanner that finds spans in texts. A share of no spans is absent. */
export interface SpanFigures {
  rows: number;
  /** The number of spans that should be found. */
  spans: number;
  found: number;
  /** The share of found spans that are correct in start, end and type. */
  precision?: number;
  /** The share of spans that were found with the same start, end and type. */
  recall?: number;
  /** The harmonic mean of precision and recall. */
  f1?: number;
  /** The figures of each type. */
  types?: Record<string, SpanFigures>;
}

/** The rank of a text: its probability, or its risk score if the scanner has no probability. */
function rankOf({ probability, score }: Outcome): number {
  return probability ?? score;
}

/** The ranks of the texts that should fail (`positive`) or of the harmless ones, in ascending order. */
export function ranksOf(outcomes: readonly Outcome[], positive: boolean): Float64Array {
  return Float64Array.from(outcomes.filter((outcome) => outcome.positive === positive).map(rankOf)).sort();
}

/**
 * The figures of a scanner that passes or fails texts.
 *
 * @param harmless ascending ranks of the harmless texts, for `auc` and `recallAt...`. If `outcomes` are a group of a file, they are those of the
 *   whole file, because all groups share one threshold.
 */
export function binaryFigures(outcomes: readonly Outcome[], harmless = ranksOf(outcomes, false)): BinaryFigures {
  const ranks = ranksOf(outcomes, true);
  const recallAt = (rate: number) =>
    harmless.length * rate < 1 - ROUNDING_ERROR
      ? undefined
      : share(countAbove(ranks, thresholdAt(harmless, rate)), ranks.length);
  return {
    ...verdictFigures(outcomes),
    ...known({
      auc: auc(ranks, harmless),
      recallAt1In100: recallAt(0.01),
      recallAt1In1000: recallAt(0.001),
      ece: calibrationError(outcomes),
    }),
  };
}

/** The figures of a check that passes or fails texts and ranks none. */
export function verdictFigures(outcomes: readonly Pick<Outcome, "positive" | "failed">[]): VerdictFigures {
  const count = (test: (outcome: Pick<Outcome, "positive" | "failed">) => boolean) => outcomes.filter(test).length;
  const hits = count(({ positive, failed }) => positive && failed);
  const alarms = count(({ positive, failed }) => !positive && failed);
  const positives = count(({ positive }) => positive);
  const negatives = outcomes.length - positives;
  // If all texts are of one class, precision and F1 tell the class and nothing about the scanner.
  const hasBothClasses = positives > 0 && negatives > 0;
  return {
    rows: outcomes.length,
    positives,
    accuracy: (hits + negatives - alarms) / outcomes.length,
    ...known({
      precision: hasBothClasses ? share(hits, hits + alarms) : undefined,
      recall: share(hits, positives),
      f1: hasBothClasses ? share(2 * hits, hits + alarms + positives) : undefined,
      falsePositives: share(alarms, negatives),
    }),
  };
}

/** The figures that have a value. */
function known(figures: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}

/** The figures of a check that names a label. */
export function labelFigures(outcomes: readonly { label: string; found: string }[]): LabelFigures {
  return {
    rows: outcomes.length,
    accuracy: outcomes.filter(({ label, found }) => label === found).length / outcomes.length,
  };
}

/**
 * The figures of a scanner that finds spans, over all texts and types, as in CoNLL-2003 (Tjong Kim Sang and De Meulder, "Introduction to
 * the CoNLL-2003 Shared Task", section 2.4): a span is correct only if start, end and type are.
 */
export function spanFigures(
  outcomes: readonly { spans: readonly TypedSpan[]; found: readonly TypedSpan[] }[],
): SpanFigures {
  const counts = new Map<string, { spans: number; found: number; hits: number }>();
  const of = (type: string) => {
    const count = counts.get(type) ?? { spans: 0, found: 0, hits: 0 };
    counts.set(type, count);
    return count;
  };
  const key = ({ start, end, type }: TypedSpan) => `${start} ${end} ${type}`;
  for (const { spans, found } of outcomes) {
    const wanted = new Map(spans.map((span) => [key(span), span]));
    for (const { type } of wanted.values()) of(type).spans += 1;
    for (const span of found) {
      of(span.type).found += 1;
      if (wanted.delete(key(span))) of(span.type).hits += 1;
    }
  }
  const figures = (some: { spans: number; found: number; hits: number }[]): SpanFigures => {
    const total = (field: "spans" | "found" | "hits") => some.reduce((sum, count) => sum + count[field], 0);
    const [spans, found, hits] = [total("spans"), total("found"), total("hits")];
    const shares = { precision: share(hits, found), recall: share(hits, spans), f1: share(2 * hits, spans + found) };
    return { rows: outcomes.length, spans, found, ...known(shares) };
  };
  const types = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => [type, figures([count])]);
  return { ...figures([...counts.values()]), types: Object.fromEntries(types) };
}

/**
 * The area under the ROC curve: the statistic of Mann and Whitney (1947) divided by the number of pairs. Hanley and McNeil, "The meaning
 * and use of the area under a receiver operating characteristic (ROC) curve", 1982, show that both are equal.
 */
function auc(ranks: Float64Array, harmless: Float64Array): number | undefined {
  const above = ranks.reduce((sum, rank) => sum + (bisectLeft(harmless, rank) + bisectRight(harmless, rank)) / 2, 0);
  return share(above, ranks.length * harmless.length);
}

/** The rounding error of the product of a rate and a count: 0.29 * 100 is 28.999999999999996. */
const ROUNDING_ERROR = 1e-9;

/** The number of texts that a rate allows of `rows`. */
function allowedCount(rate: number, rows: number): number {
  return Math.min(rows - 1, Math.floor(rate * rows + ROUNDING_ERROR));
}

/**
 * The lowest threshold at which at most a share of the harmless texts fails.
 *
 * @param harmless ascending ranks, at least one.
 * @param rate 0..1.
 */
export function thresholdAt(harmless: Float64Array, rate: number): number {
  return harmless[harmless.length - 1 - allowedCount(rate, harmless.length)] as number;
}

/** The number of ranks above a threshold. */
export function countAbove(ranks: Float64Array, threshold: number): number {
  return ranks.length - bisectRight(ranks, threshold);
}

/** The texts with similar probabilities. */
export interface CalibrationBin {
  /** The probabilities of the bin are at least `from` and below `to`, or at most 1 in the last bin. */
  from: number;
  to: number;
  rows: number;
  /** The mean probability. */
  probability: number;
  /** The share of texts that should fail. */
  positives: number;
}

const BINS = 10;

/** The texts by probability in ten bins of the same width, without empty bins. */
export function calibrationBins(outcomes: readonly Outcome[]): CalibrationBin[] {
  const bins = Array.from({ length: BINS }, (_, index) => ({ index, rows: 0, sum: 0, positives: 0 }));
  for (const { positive, probability } of outcomes) {
    if (probability === undefined) continue;
    const bin = bins[Math.min(BINS - 1, Math.floor(probability * BINS))] as (typeof bins)[number];
    bin.rows += 1;
    bin.sum += probability;
    bin.positives += positive ? 1 : 0;
  }
  return bins
    .filter(({ rows }) => rows > 0)
    .map(({ index, rows, sum, positives }) => ({
      from: index / BINS,
      to: (index + 1) / BINS,
      rows,
      probability: sum / rows,
      positives: positives / rows,
    }));
}

/**
 * The expected calibration error: the difference between the mean probability of a bin and its share of positives, averaged over texts.
 * Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI 2015.
 */
function calibrationError(outcomes: readonly Outcome[]): number | undefined {
  const bins = calibrationBins(outcomes);
  const rows = bins.reduce((sum, bin) => sum + bin.rows, 0);
  return share(
    bins.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.probability - bin.positives), 0),
    rows,
  );
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * The 95 % confidence interval of a share: Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
 * the American Statistical Association 22, 1927. Unlike the normal approximation it holds for shares near 0.
 *
 * @param whole at least 1.
 */
export function wilsonInterval(part: number, whole: number): [number, number] {
  const centre = (part + Z ** 2 / 2) / (whole + Z ** 2);
  const half = (Z / (whole + Z ** 2)) * Math.sqrt((part * (whole - part)) / whole + Z ** 2 / 4);
  return [part === 0 ? 0 : centre - half, part === whole ? 1 : centre + half];
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
