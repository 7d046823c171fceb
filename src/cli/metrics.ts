/** One text of an evaluation: what it is, and what a scanner said. */
export interface Outcome {
  /** Whether the text should fail. */
  positive: boolean;
  /** Whether it failed. */
  failed: boolean;
  /** The risk score, -1..1. */
  score: number;
}

/** Figures of a check that passes or fails; a share of nothing is absent. */
export interface BinaryFigures {
  rows: number;
  positives: number;
  accuracy: number;
  /** Of the texts that failed, how many should. */
  precision?: number;
  /** Of the texts that should fail, how many did. */
  recall?: number;
  /** The harmonic mean of both. */
  f1?: number;
  /** Of the texts that should pass, how many failed. */
  falsePositives?: number;
  /** The chance that a text that should fail scores above one that should not, ties counting half. */
  auc?: number;
}

/** Figures of a check that names a label. */
export interface LabelFigures {
  rows: number;
  accuracy: number;
}

/** The figures of a check that passes or fails. */
export function binaryFigures(outcomes: readonly Outcome[]): BinaryFigures {
  const count = (test: (outcome: Outcome) => boolean) => outcomes.filter(test).length;
  const hits = count(({ positive, failed }) => positive && failed);
  const alarms = count(({ positive, failed }) => !positive && failed);
  const positives = count(({ positive }) => positive);
  const negatives = outcomes.length - positives;
  const precision = share(hits, hits + alarms);
  const recall = share(hits, positives);
  const area = auc(outcomes, positives, negatives);
  const figures = {
    precision,
    recall,
    f1: precision === undefined || recall === undefined ? undefined : share(2 * hits, hits + alarms + positives),
    falsePositives: share(alarms, negatives),
    auc: area,
  };
  return {
    rows: outcomes.length,
    positives,
    accuracy: (hits + negatives - alarms) / outcomes.length,
    ...Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined)),
  };
}

/** The figures of a check that names a label. */
export function labelFigures(outcomes: readonly { label: string; found: string }[]): LabelFigures {
  return {
    rows: outcomes.length,
    accuracy: outcomes.filter(({ label, found }) => label === found).length / outcomes.length,
  };
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}

/** By ranks (Mann and Whitney): linear after sorting. */
function auc(outcomes: readonly Outcome[], positives: number, negatives: number): number | undefined {
  if (positives === 0 || negatives === 0) return undefined;
  const sorted = [...outcomes].sort((a, b) => a.score - b.score);
  let ranks = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end < sorted.length && sorted[end]?.score === sorted[start]?.score) end++;
    // Those of one score share the middle of their ranks, which count from 1.
    ranks += ((start + 1 + end) / 2) * sorted.slice(start, end).filter(({ positive }) => positive).length;
    start = end;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
}
