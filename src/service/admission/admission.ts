import { GuardError } from "../../support/errors.ts";
import { type Machine, thisMachine } from "../../support/machine.ts";
import { withoutStack } from "../../support/without-stack.ts";
import { Costs } from "./costs.ts";
import { FairLine, type Waiting } from "./line.ts";

/** Why a scan was turned away. */
export const SHED_REASONS = ["queue_time", "deadline", "queue_size"] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

/** The limits of an {@link Admission}. */
export interface AdmissionLimits {
  /** The most scans and open streams at a time, whether they wait or run. */
  maxScans: number;
  /**
   * The most seconds that a scan is expected to wait. What would have to wait longer is refused. With `Infinity` nothing is refused for
   * its time.
   */
  maxQueueTime: number;
}

/** A scan that asks for its turn. */
export interface Asked {
  /** What costs about the same for texts of the same length, such as `prompt`. */
  kind: string;
  /** How much text there is. */
  chars: number;
  /** For whom the scan is. Callers take turns. Scans without a caller have one in common. */
  caller?: string | undefined;
  /** The seconds that the scan may take, with the time that it waits. */
  timeout: number;
}

/** A scan that was let in. */
export interface Turn {
  /** Whether the scan has to wait. Otherwise it runs already. */
  readonly waits: boolean;
  /** Resolves when the scan may run. Rejects with `GUARD_OVERLOADED` when it has become clear that it would be too late. */
  readonly started: Promise<void>;
  /**
   * Gives the place of a scan back that has run.
   *
   * @param isComplete whether everything was done. If so, one learns from it what such scans cost.
   */
  end(isComplete: boolean): void;
  /** Gives the place of a scan back that has not begun, which then rejects with the reason. One that runs holds it until its end. */
  abandon(reason: unknown): void;
}

/** A stream that was let in. It holds a place, and costs something only while a step of it runs. */
export interface Hold {
  /** Begins a step, which never waits: half an answer is with its reader already. */
  step(chars: number): Pick<Turn, "end">;
  release(): void;
}

/** What {@link Admission} tells whoever counts. */
export interface AdmissionListener {
  /** A scan began after so many seconds of waiting. */
  waited?(seconds: number): void;
  /** A scan was turned away, before it waited or after. */
  shed?(reason: ShedReason): void;
}

/** How often what waits is looked at again, in seconds. */
const LOOK = 0.05;
/** The shortest time over which the use of the processors is measured, in seconds: systems count in hundredths. */
const SAMPLE = 0.1;
/** A scan is long when it is expected to take more than this part of the longest wait. */
const LONG = 0.25;
/** What waits is dropped when its whole wait is expected to exceed the longest wait by this factor: costs are estimates. */
const PATIENCE = 2;
/**
 * What a character of a scan is assumed to cost as long as no scan of its kind has ended, in seconds of a processor: rules take about a
 * tenth of that, models ten times as much. It decides who goes first and takes the places of long scans. It refuses nothing.
 */
const GUESS = 2e-6;
/** What a scan still costs that has cost more than expected: this part of what it has cost so far. */
const REST = 0.25;
/** The part of the processors that this process uses, of those that it could use, when they are what scans wait for. */
const SATURATED = 0.5;

/** A scan or a step, from its coming to its end. */
interface Scan extends Waiting {
  kind: string;
  /** Whether it is expected to take long. A scan that runs for longer than expected becomes a long one. */
  isLong: boolean;
  chars: number;
  deadline: number;
  /** Whether it takes none of the places for scans that run: a step of a stream. */
  isStep: boolean;
  /** When it began to run, and where {@link Admission} was in sharing out the machine. */
  begun: { at: number; share: number } | undefined;
  start(): void;
  drop(reason: unknown): void;
}

/** A scan of which nothing has been decided yet. */
type Coming = Omit<Scan, "start" | "drop">;

/**
 * Decides which scans run, which wait and which are refused, by the time that they are expected to take.
 *
 * What a scan costs is counted in seconds of the whole machine, so that the costs of all scans that are let in are the time after
 * which the last of them has ended. Costs are learned ({@link Costs}): while scans run, the machine is shared out among them in equal
 * parts, as the engine does with its rounds over the texts that wait. A scan that runs alone gets the part of the processors that
 * this process uses, and scans that wait for something else, such as for another server, cost nearly nothing.
 *
 * Only about twice as many scans run as there are processors. All of them would end late if all of them ran. As long as the processors
 * have time, further scans run. Long scans take half of the places at most, and the others wait in a {@link FairLine}. A scan that turns out
 * to be long gives its place back to the others, and while other callers wait, no caller has more than half of the places.
 *
 * A scan is refused at once when what runs before it takes longer than `maxQueueTime`, or when it would not end in its time. What
 * waits is looked at again and again, since an expectation may turn out to be wrong, and is dropped without having run. A long scan
 * runs at once when no other long one runs, whatever it is expected to cost, so that a wrong expectation does not last.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #machine: Machine;
  readonly #costs = new Costs();
  readonly #line = new FairLine<Scan>();
  readonly #running = new Set<Scan>();
  readonly #listeners = new Set<AdmissionListener>();
  #services = 0;
  /** Scans that wait or run, and streams. */
  #places = 0;
  /** How many scans may run at a time; never less than {@link Admission.#least}. */
  #slots: number;
  readonly #least: number;
  /** Seconds of the machine that a scan has been given that runs since the beginning. */
  #share = 0;
  #seen: number;
  /** The last reading of the processors. */
  #sample: { at: number; busy: number; idle: number | undefined };
  /** The part that this process used before it, of the processor time that other programs had left. */
  #used = 1;
  /** How many times as long as alone the latest scans took. */
  #slowdown = 1;
  #stopLooking: (() => void) | undefined;

  constructor(limits: AdmissionLimits, machine: Machine = thisMachine) {
    this.#limits = limits;
    this.#machine = machine;
    this.#least = Math.max(4, 2 * machine.processors);
    this.#slots = this.#least;
    this.#seen = machine.now();
    this.#sample = this.#read();
  }

  /** A number for one more service whose scans this is asked about. */
  join(): number {
    return this.#services++;
  }

  /** How many scans wait for their turn. */
  get waiting(): number {
    return this.#line.size;
  }

  /** The seconds until everything that was let in will have been done. */
  get expectedWait(): number {
    this.#advance();
    return this.#left(true) + this.#left(false) + this.#line.work(true) + this.#line.work(false);
  }

  /**
   * Tells a listener of waits and refusals.
   *
   * @returns a function that ends it.
   */
  listen(listener: AdmissionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Lets a scan in, which begins at once or waits.
   *
   * @throws GuardError `GUARD_OVERLOADED` with `retryAfter`, the seconds after which it would be let in if nobody else came.
   */
  enter(asked: Asked): Turn {
    const coming = this.#coming(asked);
    this.#makeRoom(coming.caller);
    const runs = this.#runsAtOnce(coming);
    const scan: Scan = { start: () => {}, drop: () => {}, ...coming };
    let started = STARTED;
    if (runs) this.#begin(scan);
    else {
      started = new Promise<void>((resolve, reject) => {
        scan.start = resolve;
        scan.drop = reject;
      });
      // Not everyone whose scan is turned away still listens.
      started.catch(() => {});
      this.#line.add(scan);
      this.#stopLooking ??= this.#machine.repeat(() => this.#look(), LOOK);
    }
    this.#places++;
    return {
      waits: !runs,
      started,
      end: once((isComplete: boolean) => this.#end(scan, isComplete)),
      abandon: (reason) => {
        this.#drop(scan, reason);
        // Whoever stood behind it may be next.
        this.#fill();
      },
    };
  }

  /**
   * Refuses a scan of a text that nobody has read yet, where {@link enter} would refuse it for its time.
   *
   * @param asked with the characters of the text, as far as they are known.
   * @throws GuardError `GUARD_OVERLOADED`, as {@link enter} does.
   */
  refuseUnread(asked: Asked): void {
    this.#runsAtOnce(this.#coming(asked));
  }

  /**
   * Lets a stream in.
   *
   * @throws GuardError `GUARD_OVERLOADED`, as {@link enter} does.
   */
  hold(kind: string, caller = ""): Hold {
    const now = this.#advance();
    this.#makeRoom(caller);
    const step = (chars: number): Scan => ({
      begun: undefined,
      ...{ kind, chars, caller, since: now, cost: this.#costs.expected(kind, chars), charge: 0 },
      ...{ isLong: false, isStep: true, deadline: Number.POSITIVE_INFINITY, start: () => {}, drop: () => {} },
    });
    const first = { ...step(0), cost: 0, isStep: false };
    this.#runsAtOnce(first);
    this.#places++;
    return {
      step: (chars) => {
        this.#advance();
        const scan = step(chars);
        this.#begin(scan);
        return { end: once((isComplete: boolean) => this.#leave(scan, isComplete)) };
      },
      release: once(() => {
        this.#places--;
      }),
    };
  }

  /**
   * Frees a place for a caller when all are taken: of whoever waits for the most, so that one caller cannot fill the line.
   *
   * @throws GuardError `GUARD_OVERLOADED`
   */
  #makeRoom(caller: string): void {
    if (this.#places < this.#limits.maxScans) return;
    const last = this.#line.lastOfTheLongest(caller);
    const error = this.#refused("queue_size", this.expectedWait / this.#places);
    if (!last) throw error;
    this.#drop(last, error);
  }

  /** Whether there is a place to run for a scan. One that has the machine for itself always may. */
  #mayRun({ caller, isLong }: Coming): boolean {
    let [short, long, own] = [0, 0, 0];
    for (const scan of this.#running) {
      if (scan.isStep) continue;
      if (scan.isLong) long++;
      else short++;
      if (scan.caller === caller && scan.isLong === isLong) own++;
    }
    if (short + long === 0) return true;
    const half = Math.ceil(this.#slots / 2);
    // Long scans that were let in as short ones do not take the places of short ones.
    const hasPlace = isLong ? long < half && short + long < this.#slots : short + Math.min(long, half) < this.#slots;
    return hasPlace && (own < (isLong ? Math.ceil(half / 2) : half) || !this.#line.hasOthers(caller, isLong));
  }

  #coming({ kind, chars, caller = "", timeout }: Asked): Coming {
    const now = this.#advance();
    this.#noteLongScans();
    const cost = this.#costs.expected(kind, chars);
    const guess = this.#costs.knows(kind) ? cost : (chars * GUESS) / this.#machine.processors;
    const isLong = guess > LONG * this.#limits.maxQueueTime;
    return {
      ...{ kind, chars, caller, cost, charge: guess, since: now, deadline: now + timeout, isLong },
      ...{ isStep: false, begun: undefined },
    };
  }

  /** Learns from scans that have cost more than expected, and makes those that have cost much long ones. */
  #noteLongScans(): void {
    for (const scan of this.#running) {
      const had = this.#share - (scan.begun?.share ?? 0);
      if (had > scan.cost) this.#costs.learnAtLeast(scan.kind, scan.chars, had);
      if (had > LONG * this.#limits.maxQueueTime) scan.isLong = true;
    }
  }

  /**
   * Whether a scan runs at once. If not, it waits.
   *
   * @throws GuardError `GUARD_OVERLOADED` for one that would wait too long, or end too late.
   */
  #runsAtOnce(scan: Coming): boolean {
    const timeout = scan.deadline - scan.since;
    if (this.#isTooLate(scan, 0)) throw this.#refused("deadline", this.#time(scan) - timeout);
    if (this.#mayRun(scan)) return true;
    const wait = this.#waitOf(scan, this.#line.ahead(scan));
    if (wait > this.#limits.maxQueueTime) throw this.#refused("queue_time", wait - this.#limits.maxQueueTime);
    if (this.#isTooLate(scan, wait)) throw this.#refused("deadline", wait + this.#time(scan) - timeout);
    return false;
  }

  /** The seconds of work that are left of the long scans that run, or of the others. */
  #left(isLong: boolean): number {
    let sum = 0;
    for (const scan of this.#running) if (scan.isLong === isLong) sum += this.#leftOf(scan);
    return sum;
  }

  #leftOf({ cost, begun }: Scan): number {
    const had = this.#share - (begun?.share ?? this.#share);
    return Math.max(cost - had, REST * had);
  }

  /** The seconds until a scan begins that has so much work of its kind of length before it in the line. */
  #waitOf({ isLong }: Coming, ahead: number): number {
    const others = this.#left(!isLong) + this.#line.work(!isLong);
    // Long scans and others each have half of the machine when there are both.
    return (this.#left(isLong) + ahead) * (others > 0 ? 2 : 1);
  }

  /** The seconds that a scan takes once it runs, beside those that run now. */
  #time({ cost }: Coming): number {
    let sum = cost;
    for (const scan of this.#running) sum += Math.min(this.#leftOf(scan), cost);
    return sum;
  }

  /** Whether a scan that begins after so many seconds would end too late, as far as that is known. */
  #isTooLate(scan: Coming, wait: number): boolean {
    if (this.#limits.maxQueueTime === Number.POSITIVE_INFINITY || !this.#costs.isKnown(scan.kind, scan.chars))
      return false;
    const isAlone = ![...this.#running].some(({ isLong }) => isLong === scan.isLong);
    return !isAlone && this.#seen + wait + this.#time(scan) > scan.deadline;
  }

  #refused(reason: ShedReason, seconds: number): GuardError {
    for (const listener of this.#listeners) listener.shed?.(reason);
    // As Retry-After counts: in whole seconds.
    const retryAfter = Math.min(Math.max(Math.ceil(seconds), 1), 3600);
    return withoutStack(() => new GuardError("GUARD_OVERLOADED", MESSAGES[reason], { retryAfter }));
  }

  #begin(scan: Scan): void {
    // What the processors did while nothing ran says nothing of this scan.
    if (this.#running.size === 0 && this.#seen - this.#sample.at > SAMPLE) this.#sample = this.#read();
    scan.begun = { at: this.#seen, share: this.#share };
    this.#running.add(scan);
    if (!scan.isStep) for (const listener of this.#listeners) listener.waited?.(this.#seen - scan.since);
    scan.start();
  }

  #end(scan: Scan, isComplete: boolean): void {
    // A scan that was dropped has given its place back.
    if (!scan.begun) return;
    this.#leave(scan, isComplete);
    this.#places--;
    this.#fill();
  }

  /** Takes a scan out of those that run, and learns from it. */
  #leave(scan: Scan, isComplete: boolean): void {
    const now = this.#advance();
    this.#running.delete(scan);
    const { kind, chars, begun } = scan;
    if (!begun) return;
    const cost = this.#share - begun.share;
    if (!isComplete) this.#costs.learnAtLeast(kind, chars, cost);
    else this.#slowdown += (this.#costs.learn(kind, chars, cost, now - begun.at) - this.#slowdown) / 5;
  }

  #drop(scan: Scan, reason: unknown): void {
    if (!this.#line.remove(scan)) return;
    this.#places--;
    scan.drop(reason);
  }

  /** Begins what may run. */
  #fill(): void {
    for (;;) {
      const next = this.#line.size > 0 ? this.#line.next((scan) => this.#mayRun(scan)) : undefined;
      if (!next) break;
      this.#begin(next);
    }
    if (this.#line.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /** Looks again at what waits: with what is known by now, some of it may have to go, or may run. */
  #look(): void {
    const now = this.#advance();
    this.#noteLongScans();
    this.#line.reprice(({ kind, chars }) => this.#costs.expected(kind, chars));
    let running = 0;
    for (const { isStep } of this.#running) if (!isStep) running++;
    if (this.#isContended) this.#slots = Math.max(this.#least, Math.floor(this.#slots / 2));
    else if (running >= this.#slots) this.#slots = Math.min(2 * this.#slots, this.#limits.maxScans);
    this.#fill();
    const late: [Scan, ShedReason, number][] = [];
    // What goes makes room for what stands behind it.
    const gone = { long: 0, short: 0 };
    for (const [scan, ahead] of this.#line.waiting()) {
      const length = scan.isLong ? "long" : "short";
      const wait = this.#waitOf(scan, Math.max(0, ahead - gone[length]));
      const most = PATIENCE * this.#limits.maxQueueTime;
      const isLate = now - scan.since + wait > most;
      if (!isLate && !this.#isTooLate(scan, wait)) continue;
      gone[length] += scan.cost;
      late.push([scan, isLate ? "queue_time" : "deadline", wait - this.#limits.maxQueueTime]);
    }
    for (const [scan, reason, seconds] of late) this.#drop(scan, this.#refused(reason, seconds));
    this.#fill();
  }

  /** Whether more scans at a time would only make all of them slower. */
  get #isContended(): boolean {
    const isBusy = this.#used >= SATURATED;
    // What is busy may be no processor.
    const isSlower = this.#running.size >= 2 * this.#least && this.#slowdown > this.#running.size / 2;
    return isBusy || isSlower;
  }

  /** Shares out the time since the last call among the scans that run. Returns the time. */
  #advance(): number {
    const now = this.#machine.now();
    if (now - this.#sample.at >= SAMPLE) this.#measure();
    const count = this.#running.size;
    if (count > 0) {
      const room = this.#isContended ? this.#least : this.#limits.maxScans;
      this.#share += (now - this.#seen) * Math.max(this.#used / count, 1 / Math.max(count, room));
    }
    this.#seen = now;
    return now;
  }

  /** Measures which part of the processors this process uses, of those that it could use. */
  #measure(): void {
    const { at, busy, idle } = this.#sample;
    const latest = this.#read();
    this.#sample = latest;
    const inUse = (latest.busy - busy) / (latest.at - at);
    const { processors } = this.#machine;
    const free =
      idle === undefined || latest.idle === undefined ? processors : Math.max(0, latest.idle - idle) / (latest.at - at);
    // What other programs use is not there for this one. A container may use less than the machine has.
    const usable = Math.min(inUse + free, processors);
    this.#used = usable > 0 ? Math.min(inUse / usable, 1) : 1;
  }

  #read(): { at: number; busy: number; idle: number | undefined } {
    return { at: this.#machine.now(), busy: this.#machine.busy(), idle: this.#machine.idle() };
  }
}

/** When a scan may run that need not wait. */
const STARTED = Promise.resolve();

const MESSAGES: Record<ShedReason, string> = {
  queue_time: "There is too much to do: the scan would have to wait too long.",
  deadline: "There is too much to do: the scan would not end in time.",
  queue_size: "Too many scans are under way.",
};

/** A function that does something the first time only. */
function once<Args extends unknown[]>(act: (...args: Args) => void): (...args: Args) => void {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    act(...args);
  };
}
