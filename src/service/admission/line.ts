/** What waits in a {@link FairLine}. */
export interface Waiting {
  /** For whom it waits. */
  readonly caller: string;
  /** When it began to wait, in seconds. */
  readonly since: number;
  /** Whether it is one of the long ones, of which only some run at a time. */
  readonly isLong: boolean;
  /** What it is expected to cost, in seconds of the whole machine. It changes only in {@link FairLine.reprice}. */
  cost: number;
  /** What its caller is charged for its turn: the cost, or a guess if nothing is known of it. */
  readonly charge: number;
}

/** What one caller waits for. */
interface Caller<Item> {
  /** In the order in which they run. */
  items: Item[];
  /** The sum of the costs of the long ones, and of the others. */
  work: { long: number; short: number };
  /** How much this caller has had, in seconds of the machine. Whoever has had least is next. */
  had: number;
}

/**
 * A line in which no caller waits for another one's crowd. Callers take turns by what their scans cost: start-time fair queueing
 * (Goyal, Vin and Cheng, "Start-Time Fair Queueing", SIGCOMM 1996). Within a caller, a scan that is a second cheaper goes before
 * another one that came up to a second earlier, so that short texts do not wait for long ones, and long ones do not wait for ever.
 */
export class FairLine<Item extends Waiting> {
  readonly #callers = new Map<string, Caller<Item>>();
  #size = 0;
  /** What the caller had had whose scan ran last. A caller who comes anew begins here, and has saved up nothing. */
  #level = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const caller = this.#callers.get(item.caller) ?? { items: [], work: { long: 0, short: 0 }, had: this.#level };
    this.#callers.set(item.caller, caller);
    const at = caller.items.findLastIndex((other) => rank(other) <= rank(item)) + 1;
    caller.items.splice(at, 0, item);
    caller.work[kindOf(item)] += item.cost;
    this.#size++;
  }

  /** Takes one out, wherever it stands. */
  remove(item: Item): boolean {
    const caller = this.#callers.get(item.caller);
    const at = caller?.items.indexOf(item) ?? -1;
    if (!caller || at < 0) return false;
    caller.items.splice(at, 1);
    this.#size--;
    if (caller.items.length === 0) this.#callers.delete(item.caller);
    else caller.work[kindOf(item)] -= item.cost;
    return true;
  }

  /** Takes out the one that runs next, of those that may. */
  next(may: (item: Item) => boolean): Item | undefined {
    let first: { item: Item; caller: Caller<Item> } | undefined;
    for (const caller of this.#callers.values()) {
      if (first && caller.had >= first.caller.had) continue;
      const item = caller.items.find(may);
      if (item) first = { item, caller };
    }
    if (!first) return undefined;
    this.#level = Math.max(this.#level, first.caller.had);
    first.caller.had += first.item.cost || first.item.charge;
    this.remove(first.item);
    return first.item;
  }

  /**
   * Returns the work that is done before that of a newcomer, in seconds of the machine: all that its caller waits for, and of every
   * other caller as much as that, since they take turns.
   */
  ahead({ caller, isLong, cost }: Pick<Item, "caller" | "isLong" | "cost">): number {
    const kind = isLong ? "long" : "short";
    const own = this.#callers.get(caller)?.work[kind] ?? 0;
    return own + this.#ofOthers(caller, kind, own + cost);
  }

  /** All that waits, in the order of each caller, with the work that is done before it, as {@link ahead} tells it. */
  *waiting(): Generator<[item: Item, ahead: number]> {
    for (const [name, { items }] of this.#callers) {
      const own = { long: 0, short: 0 };
      for (const item of items) {
        const kind = kindOf(item);
        yield [item, own[kind] + this.#ofOthers(name, kind, own[kind] + item.cost)];
        own[kind] += item.cost;
      }
    }
  }

  /** Whether a caller other than this one waits with a scan that is long, or with one that is not. */
  hasOthers(caller: string, isLong: boolean): boolean {
    for (const [other, { items }] of this.#callers) {
      if (other !== caller && items.some((item) => item.isLong === isLong)) return true;
    }
    return false;
  }

  /** The sum of all costs. */
  work(isLong: boolean): number {
    let sum = 0;
    for (const { work } of this.#callers.values()) sum += work[isLong ? "long" : "short"];
    return sum;
  }

  /** The last one of the caller who has the most in the line, if that is more than `caller` would have with one more. */
  lastOfTheLongest(caller: string): Item | undefined {
    let longest = (this.#callers.get(caller)?.items.length ?? 0) + 1;
    let last: Item | undefined;
    for (const { items } of this.#callers.values()) {
      if (items.length <= longest) continue;
      longest = items.length;
      last = items.at(-1);
    }
    return last;
  }

  /** Sets the costs anew. The order within a caller stays as it is. */
  reprice(cost: (item: Item) => number): void {
    for (const caller of this.#callers.values()) {
      caller.work = { long: 0, short: 0 };
      for (const item of caller.items) {
        item.cost = cost(item);
        caller.work[kindOf(item)] += item.cost;
      }
    }
  }

  #ofOthers(name: string, kind: "long" | "short", most: number): number {
    let sum = 0;
    for (const [other, { work }] of this.#callers) {
      if (other !== name) sum += Math.min(work[kind], most);
    }
    return sum;
  }
}

function rank({ since, cost, charge }: Waiting): number {
  return since + (cost || charge);
}

function kindOf({ isLong }: Waiting): "long" | "short" {
  return isLong ? "long" : "short";
}
