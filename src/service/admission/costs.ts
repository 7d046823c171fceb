/** What texts of about one length cost. */
interface Known {
  /** The mean cost, in seconds of the whole machine, with more weight on the latest texts. */
  cost: number;
  /** The mean length of these texts, in characters. */
  chars: number;
  /** The time of the shortest scan, in seconds. It creeps up, since what a scan takes changes with its options. */
  fastest: number;
}

/** The weight of the newest observation in a mean. About ten scans decide what is expected. */
const NEWEST = 0.2;

/** What the shortest time grows by with each scan that took longer. */
const CREEP = 1.02;

/**
 * The characters that the part of a cost is worth that does not depend on the length. It is used only for lengths of which nothing is
 * known yet: without it, a text of ten characters would make one of 100,000 look ten thousand times as expensive.
 */
const FIXED_CHARS = 1000;

/**
 * What scans cost, learned from scans that have ended. Costs are kept for each kind of scan and each power of two of the length, so
 * that nothing is assumed of how they grow: a rule costs by the character, and a model by the window and no more than the most windows.
 */
export class Costs {
  readonly #kinds = new Map<string, Map<number, Known>>();

  /** Returns what a scan of this kind and length is expected to cost, in seconds of the whole machine; 0 when nothing is known. */
  expected(kind: string, chars: number): number {
    const known = this.#kinds.get(kind);
    if (!known) return 0;
    const class_ = classOf(chars);
    const of = known.get(class_);
    if (of) return (of.cost * (chars + FIXED_CHARS)) / (of.chars + FIXED_CHARS);
    let nearest: [distance: number, known: Known] | undefined;
    for (const [other, of] of known) {
      // Of two that are equally far, the shorter one says more: its cost is scaled up, so that a long text is not underestimated.
      const distance = Math.abs(other - class_) + (other > class_ ? 0.5 : 0);
      if (!nearest || distance < nearest[0]) nearest = [distance, of];
    }
    if (!nearest) return 0;
    return (nearest[1].cost * (chars + FIXED_CHARS)) / (nearest[1].chars + FIXED_CHARS);
  }

  /** Tells whether anything is known of a kind. */
  knows(kind: string): boolean {
    return this.#kinds.has(kind);
  }

  /** Tells whether scans of about this length have ended, so that the expectation is no guess. */
  isKnown(kind: string, chars: number): boolean {
    return this.#kinds.get(kind)?.has(classOf(chars)) ?? false;
  }

  /**
   * Learns from a scan that has ended.
   *
   * @param seconds how long it ran.
   * @returns how many times as long as the fastest scan of its length it took.
   */
  learn(kind: string, chars: number, cost: number, seconds: number): number {
    const classes = this.#classes(kind);
    const known = classes.get(classOf(chars));
    if (!known) {
      classes.set(classOf(chars), { cost, chars, fastest: seconds });
      return 1;
    }
    known.cost += (cost - known.cost) * NEWEST;
    known.chars += (chars - known.chars) * NEWEST;
    known.fastest = Math.min(seconds, known.fastest * CREEP);
    return known.fastest > 0 ? seconds / known.fastest : 1;
  }

  /** Learns from a scan that has not ended and has cost this much so far. */
  learnAtLeast(kind: string, chars: number, cost: number): void {
    if (this.expected(kind, chars) >= cost) return;
    const classes = this.#classes(kind);
    const known = classes.get(classOf(chars));
    if (known) Object.assign(known, { cost, chars });
    else classes.set(classOf(chars), { cost, chars, fastest: Number.POSITIVE_INFINITY });
  }

  #classes(kind: string): Map<number, Known> {
    const classes = this.#kinds.get(kind) ?? new Map<number, Known>();
    this.#kinds.set(kind, classes);
    return classes;
  }
}

/** The class of a length: texts of one class differ by a factor of two at most. */
function classOf(chars: number): number {
  return Math.ceil(Math.log2(chars + 1));
}
