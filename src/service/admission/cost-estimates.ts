/** The cost of texts of about the same length. */
interface CostEstimate {
  /** The moving average of the cost, in seconds of the whole machine. */
  cost: number;
  /** The moving average of the length, in characters. */
  chars: number;
  /** The time of the fastest scan, in seconds. It grows slowly, because options change the time of scans. */
  fastest: number;
}

/** The weight of the newest scan in a moving average. About ten scans determine an estimate. */
const NEWEST_WEIGHT = 0.2;

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
   * @param seconds how long it ran.
   * @returns how much longer it took than the fastest scan of its length, as a factor.
   */
  learn(kind: string, chars: number, cost: number, seconds: number): number {
    const classes = this.#classes(kind);
    const known = classes.get(classOf(chars));
    if (!known) {
      classes.set(classOf(chars), { cost, chars, fastest: seconds });
      return 1;
    }
    known.cost += (cost - known.cost) * NEWEST_WEIGHT;
    known.chars += (chars - known.chars) * NEWEST_WEIGHT;
    known.fastest = Math.min(seconds, known.fastest * FASTEST_GROWTH);
    return known.fastest > 0 ? seconds / known.fastest : 1;
  }

  /** Learns from a scan that has not ended, and has cost this much so far. */
  learnAtLeast(kind: string, chars: number, cost: number): void {
    if (this.expected(kind, chars) >= cost) return;
    const classes = this.#classes(kind);
    const known = classes.get(classOf(chars));
    if (known) Object.assign(known, { cost, chars });
    else classes.set(classOf(chars), { cost, chars, fastest: Number.POSITIVE_INFINITY });
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
