import type { ServiceReport } from "./service-types.ts";

/** The fields of a report that are compared between two configurations. */
export type ComparedReport = Pick<ServiceReport, "isValid" | "outcome" | "resultsValid" | "resultsScore">;

/** How the second verdict differs: it fails a text that the first one passes, or passes a text that the first one fails. */
export const CHANGES = ["newly_failing", "newly_passing"] as const;
export type Change = (typeof CHANGES)[number];

/** How two configurations differ about one text. */
export interface Difference {
  /** Whether the validity of the text, its outcome and the verdicts of all scanners are equal. */
  isSame: boolean;
  /** How the validity of the text differs; undefined if it is equal. */
  change: Change | undefined;
  /** How the verdicts of scanners differ, by their names in results. Equal verdicts are not listed. */
  scanners: ReadonlyMap<string, Change>;
}

/**
 * Compares the reports of two configurations on the same text. Scanners are matched by their names in results. If only one
 * configuration ran a scanner, the scanner counts as passed in the other one, so a failure is reported as a change.
 */
export function compare(first: ComparedReport, second: ComparedReport): Difference {
  const change = changeOf(first.isValid, second.isValid);
  const scanners = new Map<string, Change>();
  for (const name of namesOf(first, second)) {
    const differs = changeOf(first.resultsValid[name] ?? true, second.resultsValid[name] ?? true);
    if (differs) scanners.set(name, differs);
  }
  return { isSame: !change && first.outcome === second.outcome && scanners.size === 0, change, scanners };
}

/** Counts of texts by how two configurations agree about a scanner. Each text counts in exactly one of the first six. */
export interface Agreement {
  bothPass: number;
  bothFail: number;
  newlyFailing: number;
  newlyPassing: number;
  /** Only the first configuration ran it, and it passed. */
  onlyFirst: number;
  /** Only the second configuration ran it, and it passed. */
  onlySecond: number;
  /** The mean of the second risk score minus the first, over the texts that have both; null if there are none. */
  meanScoreDifference: number | null;
}

/** Counts how two configurations differ about many texts. Its size depends only on the number of scanners. */
export class Tally {
  same = 0;
  differs = 0;
  newlyFailing = 0;
  newlyPassing = 0;
  readonly #scanners = new Map<string, Agreement & { scored: number }>();

  /** Counts a text, and returns how the configurations differ about it. */
  add(first: ComparedReport, second: ComparedReport): Difference {
    const difference = compare(first, second);
    if (difference.isSame) this.same += 1;
    else this.differs += 1;
    if (difference.change === "newly_failing") this.newlyFailing += 1;
    if (difference.change === "newly_passing") this.newlyPassing += 1;
    for (const name of namesOf(first, second)) this.#count(name, first, second, difference.scanners.get(name));
    return difference;
  }

  /** The agreement about each scanner, by its name in results. */
  get scanners(): Record<string, Agreement> {
    return Object.fromEntries([...this.#scanners].map(([name, { scored: _, ...agreement }]) => [name, agreement]));
  }

  #count(name: string, first: ComparedReport, second: ComparedReport, change: Change | undefined): void {
    const counts = this.#scanners.get(name) ?? {
      ...{ bothPass: 0, bothFail: 0, newlyFailing: 0, newlyPassing: 0, onlyFirst: 0, onlySecond: 0 },
      ...{ meanScoreDifference: null, scored: 0 },
    };
    this.#scanners.set(name, counts);
    const [before, after] = [first.resultsValid[name], second.resultsValid[name]];
    if (change) counts[change === "newly_failing" ? "newlyFailing" : "newlyPassing"] += 1;
    else if (after === undefined) counts.onlyFirst += 1;
    else if (before === undefined) counts.onlySecond += 1;
    else counts[after ? "bothPass" : "bothFail"] += 1;
    const [score, other] = [first.resultsScore[name], second.resultsScore[name]];
    if (score === undefined || other === undefined) return;
    counts.scored += 1;
    // A running mean, because a sum would grow for as long as a server lives.
    const mean = counts.meanScoreDifference ?? 0;
    counts.meanScoreDifference = mean + (other - score - mean) / counts.scored;
  }
}

function changeOf(first: boolean, second: boolean): Change | undefined {
  if (first === second) return undefined;
  return first ? "newly_failing" : "newly_passing";
}

function namesOf(first: ComparedReport, second: ComparedReport): Set<string> {
  return new Set([...Object.keys(first.resultsValid), ...Object.keys(second.resultsValid)]);
}
