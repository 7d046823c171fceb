/** The cost of texts of about the same length. */
interface CostEstimate {
  /** The expected cost, in seconds of the whole machine. */
  cost: number;
  /** The moving average of the length, in characters. */
  chars: number;
  /** The costs of the first scans that ended, up to {@link FIRST_SCANS}. */
  first: number[];
  /** The time of the fastest scan, in seconds. It grows slowly, because options change the time of scans. */
  fastest: number;
}

interface ScanDuration {
  /** How long the scan ran. */
  seconds: number;
  /** Whether it started before another one of its kind had ended. */
  isWarmUp: boolean;
}

/** So many scans have to end until their costs are averaged. Of fewer, the most expensive one does not count: it may have waited for a cold cache. */
const FIRST_SCANS = 5;
/** So many seconds of the first scans of a kind may be warm-up (compilation, cold caches), and do not count. */
const WARM_UP_SECONDS = 0.5;
/** The share of such a cost that counts at least. */
const WARM_SHARE = 0.1;

/**
 * The cost of so many seconds determines a moving average. Cheap scans end often, and one of them says little: ten of a hundred may cost ten
 * times as much as the others.
 */
const AVERAGED_SECONDS = 0.5;
/** The limits of the weight of the newest scan in a moving average. */
const NEWEST_WEIGHT = { min: 0.04, max: 0.2 };

/** The factor by which the fastest time grows with each slower scan. */
const FASTEST_GROWTH = 1.02;

/**
 * The fixed part of a cost, in characters. It scales estimates to other lengths: without it, a text of ten characters would make one of
 * 100,000 look ten thousand times as expensive.
 */
const FIXED_CHARS = 1000;

/**
 * Cost estimates, learned from scans that ended. There is one per kind of scan and power of two of the length, because costs grow in
 * different ways: those of rules with the characters, those of models with the windows, up to the most windows.
 */
export class CostEstimates {
  readonly #kinds = new Map<string, Map<number, CostEstimate>>();

  /** Returns the expected cost of a scan, in seconds of the whole machine, or 0 if nothing is known. */
  expected(kind: string, chars: number): number {
    const known = this.#kinds.get(kind);
    if (!known) return 0;
    const lengthClass = classOf(chars);
    let nearest: [distance: number, known: CostEstimate] | undefined;
    for (const [other, estimate] of known) {
      // Of two classes at the same distance, the shorter one counts: its cost is scaled up, so a long text is not underestimated.
      const distance = Math.abs(other - lengthClass) + (other > lengthClass ? 0.5 : 0);
      if (!nearest || distance < nearest[0]) nearest = [distance, estimate];
    }
    if (!nearest) return 0;
    return (nearest[1].cost * (chars + FIXED_CHARS)) / (nearest[1].chars + FIXED_CHARS);
  }

  /** Tells whether any scan of a kind has ended. */
  isMeasured(kind: string): boolean {
    for (const { fastest } of this.#kinds.get(kind)?.values() ?? [])
      if (fastest < Number.POSITIVE_INFINITY) return true;
    return false;
  }

  /** Tells whether scans of about this length have ended, or have exceeded their estimate. Otherwise the estimate is a guess. */
  isKnown(kind: string, chars: number): boolean {
    return this.#kinds.get(kind)?.has(classOf(chars)) ?? false;
  }

  /**
   * Learns from a scan that has ended.
   *
   * @returns how much longer it took than the fastest scan of its length, as a factor.
   */
  learn(kind: string, chars: number, cost: number, { seconds, isWarmUp }: ScanDuration): number {
    const known = this.#estimate(kind, chars);
    let weight = 1 / (known.first.length + 1);
    if (isWarmUp) {
      if (known.first.length === 0) known.cost = withoutWarmUp(cost);
    } else if (known.first.length < FIRST_SCANS) {
      known.first.push(cost);
      known.cost = firstEstimate(known.first);
    } else {
      weight = Math.min(Math.max(known.cost / AVERAGED_SECONDS, NEWEST_WEIGHT.min), NEWEST_WEIGHT.max);
      known.cost += (cost - known.cost) * weight;
    }
    known.chars += (chars - known.chars) * weight;
    known.fastest = Math.min(seconds, known.fastest * FASTEST_GROWTH);
    return known.fastest > 0 ? seconds / known.fastest : 1;
  }

  /**
   * Learns from a scan that has not ended, and has cost this much so far. Only the first scans count. Later, expensive scans are the most
   * likely ones to be running at any time, so they say nothing about the others.
   */
  learnAtLeast(kind: string, chars: number, cost: number): void {
    const counted = this.isMeasured(kind) ? cost : withoutWarmUp(cost);
    if (this.expected(kind, chars) >= counted) return;
    const known = this.#estimate(kind, chars);
    if (known.first.length < FIRST_SCANS) Object.assign(known, { cost: counted, chars });
  }

  #estimate(kind: string, chars: number): CostEstimate {
    const classes = this.#classes(kind);
    const known = classes.get(classOf(chars)) ?? { cost: 0, chars, first: [], fastest: Number.POSITIVE_INFINITY };
    classes.set(classOf(chars), known);
    return known;
  }

  #classes(kind: string): Map<number, CostEstimate> {
    const classes = this.#kinds.get(kind) ?? new Map<number, CostEstimate>();
    this.#kinds.set(kind, classes);
    return classes;
  }
}

/** The class of a length: texts of one class differ by a factor of two at most. */
function classOf(chars: number): number {
  return Math.ceil(Math.log2(chars + 1));
}

function withoutWarmUp(cost: number): number {
  return Math.max(cost - WARM_UP_SECONDS, cost * WARM_SHARE);
}

/** The expected cost after the first scans. */
function firstEstimate(costs: readonly number[]): number {
  const [only = 0] = costs;
  if (costs.length === 1) return only;
  const sum = costs.reduce((total, cost) => total + cost, 0);
  return (sum - Math.max(...costs)) / (costs.length - 1);
}
