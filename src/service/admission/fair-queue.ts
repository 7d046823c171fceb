/** An item of a {@link FairQueue}. */
export interface QueueItem {
  /** The caller that it waits for. */
  readonly caller: string;
  /** The time since which it waits, in seconds. */
  readonly since: number;
  /** Whether it is long. Only some long items run at the same time. */
  readonly isLong: boolean;
  /** The expected cost, in seconds of the whole machine. It only changes in {@link FairQueue.updateCosts}. */
  cost: number;
  /** The cost that its caller is charged: the expected cost, or a guess if nothing is known. */
  readonly charge: number;
}

/** The work ahead of an item, in seconds of the machine. */
export interface WorkAhead {
  all: number;
  /** The work of its own caller. */
  own: number;
}

/** The queue of one caller. */
interface Caller<Item> {
  /** Its items, in the order in which they run. */
  items: Item[];
  /** The total cost of long and short items. */
  work: { long: number; short: number };
  /** The cost of the items that have run, in seconds of the machine. The caller with the least is next. */
  virtualTime: number;
}

/**
 * A queue in which the scans of one caller do not delay those of another. Callers take turns by cost: start-time fair queueing
 * (Goyal, Vin and Cheng, "Start-Time Fair Queueing", SIGCOMM 1996). Within a caller, a scan that is a second cheaper runs before one that
 * arrived up to a second earlier, so that short texts do not wait for long ones, and long ones do not starve.
 */
export class FairQueue<Item extends QueueItem> {
  readonly #callers = new Map<string, Caller<Item>>();
  #size = 0;
  /** The virtual time of the latest caller. New callers start with it, so that they have no credit. */
  #virtualTime = 0;

  /** The number of items. */
  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const caller = this.#callers.get(item.caller) ?? {
      items: [],
      work: { long: 0, short: 0 },
      virtualTime: this.#virtualTime,
    };
    this.#callers.set(item.caller, caller);
    const at = caller.items.findLastIndex((other) => rankOf(other) <= rankOf(item)) + 1;
    caller.items.splice(at, 0, item);
    caller.work[lengthOf(item)] += item.cost;
    this.#size++;
  }

  /** Removes an item. Returns whether it was in the queue. */
  remove(item: Item): boolean {
    const caller = this.#callers.get(item.caller);
    const at = caller?.items.indexOf(item) ?? -1;
    if (!caller || at < 0) return false;
    caller.items.splice(at, 1);
    this.#size--;
    if (caller.items.length === 0) this.#callers.delete(item.caller);
    else caller.work[lengthOf(item)] -= item.cost;
    return true;
  }

  /** Removes and returns the next item of those that may run. */
  next(mayRun: (item: Item) => boolean): Item | undefined {
    let first: { item: Item; caller: Caller<Item> } | undefined;
    for (const caller of this.#callers.values()) {
      if (first && caller.virtualTime >= first.caller.virtualTime) continue;
      const item = caller.items.find(mayRun);
      if (item) first = { item, caller };
    }
    if (!first) return undefined;
    this.#virtualTime = Math.max(this.#virtualTime, first.caller.virtualTime);
    first.caller.virtualTime += first.item.cost || first.item.charge;
    this.remove(first.item);
    return first.item;
  }

  /**
   * Returns the work ahead of a new item, in seconds of the machine: all items of its caller, and at most as much of every other caller,
   * because callers take turns.
   */
  workAhead({ caller, isLong, cost }: Pick<Item, "caller" | "isLong" | "cost">): WorkAhead {
    const kind = isLong ? "long" : "short";
    const own = this.#callers.get(caller)?.work[kind] ?? 0;
    return { all: own + this.#workOfOthers(caller, kind, own + cost), own };
  }

  /** Iterates over all items, in the order of each caller, with the work ahead of each as in {@link workAhead}. */
  *entries(): Generator<[item: Item, ahead: WorkAhead]> {
    for (const [name, { items }] of this.#callers) {
      const own = { long: 0, short: 0 };
      for (const item of items) {
        const kind = lengthOf(item);
        const all = own[kind] + this.#workOfOthers(name, kind, own[kind] + item.cost);
        yield [item, { all, own: own[kind] }];
        own[kind] += item.cost;
      }
    }
  }

  /** Whether another caller waits with a long item, or with a short one. */
  hasOthers(caller: string, isLong: boolean): boolean {
    for (const [other, { items }] of this.#callers) {
      if (other !== caller && items.some((item) => item.isLong === isLong)) return true;
    }
    return false;
  }

  /** The total cost of all long items, or of all short ones. */
  work(isLong: boolean): number {
    let sum = 0;
    for (const { work } of this.#callers.values()) sum += work[isLong ? "long" : "short"];
    return sum;
  }

  /** The last item of the caller with the most items, if these are more than `caller` would have with one more. */
  lastOfLongest(caller: string): Item | undefined {
    let longest = (this.#callers.get(caller)?.items.length ?? 0) + 1;
    let last: Item | undefined;
    for (const { items } of this.#callers.values()) {
      if (items.length <= longest) continue;
      longest = items.length;
      last = items.at(-1);
    }
    return last;
  }

  /** Updates the costs. The order within a caller stays the same. */
  updateCosts(cost: (item: Item) => number): void {
    for (const caller of this.#callers.values()) {
      caller.work = { long: 0, short: 0 };
      for (const item of caller.items) {
        item.cost = cost(item);
        caller.work[lengthOf(item)] += item.cost;
      }
    }
  }

  #workOfOthers(name: string, kind: "long" | "short", max: number): number {
    let sum = 0;
    for (const [other, { work }] of this.#callers) {
      if (other !== name) sum += Math.min(work[kind], max);
    }
    return sum;
  }
}

function rankOf({ since, cost, charge }: QueueItem): number {
  return since + (cost || charge);
}

function lengthOf({ isLong }: QueueItem): "long" | "short" {
  return isLong ? "long" : "short";
}
