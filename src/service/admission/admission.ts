import { Bag } from "../../support/bag.ts";
import { GuardError } from "../../support/errors.ts";
import { type Machine, thisMachine } from "../../support/machine.ts";
import { withoutStack } from "../../support/without-stack.ts";
import { CostEstimates } from "./cost-estimates.ts";
import { FairQueue, type QueueItem, type WorkAhead } from "./fair-queue.ts";

/** Why a scan was rejected. */
export const SHED_REASONS = ["queue_time", "deadline", "queue_size"] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

/** The limits of an {@link Admission}. */
export interface AdmissionLimits {
  /** The most scans and open streams at a time, whether they wait or run. */
  maxScans: number;
  /**
   * The longest expected wait, in seconds. A scan that would wait longer is rejected. With `Infinity`, no scan is rejected because of its
   * wait or deadline.
   */
  maxQueueTime: number;
}

/** A request to run a scan. */
export interface AdmissionRequest {
  /** The kind of scan, such as `prompt`. Scans of one kind and length cost about the same. */
  kind: string;
  /** The length of the text. */
  chars: number;
  /** The caller. Callers take turns. Scans without a caller share one turn. */
  caller?: string | undefined;
  /** The most seconds that the scan may wait and run. */
  timeout: number;
}

/** A scan that was admitted. It waits or runs. */
export interface AdmittedScan {
  /** Whether the scan waits. Otherwise it runs already. */
  readonly isWaiting: boolean;
  /** Resolves when the scan may run. Rejects with `GUARD_OVERLOADED` when it is expected to miss its deadline. */
  readonly started: Promise<void>;
  /**
   * Reports that the scan has ended.
   *
   * @param isComplete whether the scan was complete. Its time then updates the cost estimates.
   */
  end(isComplete: boolean): void;
  /** Removes the scan from the queue, and rejects {@link started} with the reason. It has no effect on a scan that runs. */
  abandon(reason: unknown): void;
}

/** A stream that was admitted. It counts as a scan, but has costs only while one of its steps runs. */
export interface AdmittedStream {
  /** Starts a step. Steps never wait, because the reader already has a part of the answer. */
  step(chars: number): Pick<AdmittedScan, "end">;
  release(): void;
}

/** A listener to waits and rejections. */
export interface AdmissionListener {
  /** A scan started after this many seconds of waiting. */
  waited?(seconds: number): void;
  /** A scan was rejected, before or while it waited. */
  shed?(reason: ShedReason): void;
}

/** The interval of reviews of the queue, in seconds. */
const REVIEW_SECONDS = 0.05;
/** The shortest time over which the use of the processors is measured, in seconds. Systems count it in hundredths of a second. */
const MIN_SAMPLE_SECONDS = 0.1;
/** A scan is long if its expected cost exceeds this share of `maxQueueTime`. */
const LONG_SCAN_SHARE = 0.25;
/** A waiting scan is dropped if its total wait is expected to exceed `maxQueueTime` by this factor. Costs are estimates. */
const QUEUE_TIME_TOLERANCE = 2;
/**
 * The assumed cost of a character until a scan of its kind has ended, in seconds of a processor. Rules take about a tenth of it, models ten
 * times as much. It decides the order of scans and which ones are long, and rejects nothing.
 */
const ASSUMED_COST = 2e-6;
/** The remaining cost of a scan that exceeds its estimate, as a share of its cost so far. */
const MIN_REMAINING_SHARE = 0.25;
/** The processors are the bottleneck if this process uses at least this share of those that it could use. */
const BUSY_SHARE = 0.5;

/** A scan that waits or runs, or a step of a stream. */
interface QueuedScan extends QueueItem {
  kind: string;
  /** Whether it is expected to take long. A scan that runs for longer than expected becomes a long one. */
  isLong: boolean;
  chars: number;
  deadline: number;
  /** Whether it is a step of a stream. Steps do not count towards the limit of running scans. */
  isStep: boolean;
  /** When it started to run, the virtual time at that moment, whether no scan of its kind had ended, and what removes it from those that run. */
  started: { at: number; virtualTime: number; isWarmUp: boolean; remove(): void } | undefined;
  start(): void;
  drop(reason: unknown): void;
}

/** A scan before the decision to admit it. */
type ScanCandidate = Omit<QueuedScan, "start" | "drop">;

/**
 * Admission control: decides which scans run, wait or are rejected, from their expected costs.
 *
 * The cost of a scan is counted in seconds of the whole machine, so the sum of the costs of all admitted scans is the time until the last
 * one ends. {@link CostEstimates} learns costs from scans that ended: running scans share the machine equally, as the engine serves waiting
 * texts in turn. A scan that runs alone is charged the share of the processors that this process uses. Scans that wait for something else,
 * such as another server, cost nearly nothing.
 *
 * About twice as many scans run as there are processors, because all scans would end late if all of them ran. If the processors are idle,
 * more scans run. At most half of the running scans are long. The others wait in a {@link FairQueue}. A scan that turns out to be long makes
 * room for short ones. While other callers wait, no caller has more than half of the running scans.
 *
 * A scan is rejected at once if its expected wait exceeds `maxQueueTime`, or if it would miss its deadline. Waiting scans are reviewed
 * regularly, because estimates may be wrong, and may be dropped before they run. A long scan starts at once if no other long scan runs,
 * whatever its estimate, so that a wrong estimate is corrected.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #machine: Machine;
  readonly #estimates = new CostEstimates();
  readonly #queue = new FairQueue<QueuedScan>();
  readonly #running = new Bag<QueuedScan>();
  readonly #listeners = new Set<AdmissionListener>();
  #services = 0;
  /** The number of admitted scans and streams that have not ended. */
  #admitted = 0;
  /** The most scans that run at the same time. It is never below {@link #minRunning}. */
  #maxRunning: number;
  readonly #minRunning: number;
  /** Seconds of the machine that a scan would have received if it had always run (virtual time of fair queueing). */
  #virtualTime = 0;
  #lastUpdate: number;
  /** The latest measurement of the processors. */
  #sample: { at: number; busy: number; idle: number | undefined };
  /** The share that this process used of the processor time that other programs left, before the latest measurement. */
  #processorShare = 1;
  /** How much longer the latest scans took than the fastest ones of their length, as a factor. */
  #slowdown = 1;
  #stopReviews: (() => void) | undefined;

  constructor(limits: AdmissionLimits, machine: Machine = thisMachine) {
    this.#limits = limits;
    this.#machine = machine;
    this.#minRunning = Math.max(4, 2 * machine.processors);
    this.#maxRunning = this.#minRunning;
    this.#lastUpdate = machine.now();
    this.#sample = this.#readProcessors();
  }

  /** Registers a service and returns its id, which keys its cost estimates. */
  registerService(): number {
    return this.#services++;
  }

  /** The number of waiting scans. */
  get queueSize(): number {
    return this.#queue.size;
  }

  /** The seconds until all admitted scans are expected to have ended. */
  get expectedWait(): number {
    this.#advance();
    return this.#remainingWork(true) + this.#remainingWork(false) + this.#queue.work(true) + this.#queue.work(false);
  }

  /**
   * Adds a listener to waits and rejections.
   *
   * @returns a function that removes it.
   */
  listen(listener: AdmissionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Admits a scan, which starts at once or waits.
   *
   * @throws GuardError `GUARD_OVERLOADED` with `retryAfter`: the seconds until it would be admitted without further requests.
   */
  admit(request: AdmissionRequest): AdmittedScan {
    const candidate = this.#candidate(request);
    this.#makeRoom(candidate.caller);
    const runs = this.#canStart(candidate);
    const scan: QueuedScan = { start: () => {}, drop: () => {}, ...candidate };
    let started = STARTED;
    if (runs) this.#start(scan);
    else {
      started = new Promise<void>((resolve, reject) => {
        scan.start = resolve;
        scan.drop = reject;
      });
      // A rejection that nobody awaits any more must not end the process.
      started.catch(() => {});
      this.#queue.add(scan);
      this.#stopReviews ??= this.#machine.repeat(() => this.#review(), REVIEW_SECONDS);
    }
    this.#admitted++;
    return {
      isWaiting: !runs,
      started,
      end: once((isComplete: boolean) => this.#end(scan, isComplete)),
      abandon: (reason) => {
        this.#drop(scan, reason);
        // The next scan of the caller may be able to run.
        this.#startNext();
      },
    };
  }

  /**
   * Checks whether {@link admit} would reject a scan because of its time, before its text is read.
   *
   * @param request the request, with the number of characters as far as it is known.
   * @throws GuardError `GUARD_OVERLOADED`, as {@link admit} does.
   */
  assertAdmissible(request: AdmissionRequest): void {
    this.#canStart(this.#candidate(request));
  }

  /**
   * Admits a stream.
   *
   * @throws GuardError `GUARD_OVERLOADED`, as {@link admit} does.
   */
  admitStream(kind: string, caller = ""): AdmittedStream {
    const now = this.#advance();
    this.#makeRoom(caller);
    const step = (chars: number): QueuedScan => ({
      started: undefined,
      ...{ kind, chars, caller, since: now, cost: this.#estimates.expected(kind, chars), charge: 0 },
      ...{ isLong: false, isStep: true, deadline: Number.POSITIVE_INFINITY, start: () => {}, drop: () => {} },
    });
    const first = { ...step(0), cost: 0, isStep: false };
    this.#canStart(first);
    this.#admitted++;
    return {
      step: (chars) => {
        this.#advance();
        const scan = step(chars);
        this.#start(scan);
        return { end: once((isComplete: boolean) => this.#finish(scan, isComplete)) };
      },
      release: once(() => {
        this.#admitted--;
      }),
    };
  }

  /**
   * Makes room for a caller if `maxScans` is reached: the last scan of the caller with the longest queue is dropped, so that one caller
   * cannot fill the queue.
   *
   * @throws GuardError `GUARD_OVERLOADED`
   */
  #makeRoom(caller: string): void {
    if (this.#admitted < this.#limits.maxScans) return;
    const last = this.#queue.lastOfLongest(caller);
    const error = this.#rejection("queue_size", this.expectedWait / this.#admitted);
    if (!last) throw error;
    this.#drop(last, error);
  }

  /** Whether a scan may run beside those that run. If none runs, it always may. */
  #canRun({ caller, isLong }: ScanCandidate): boolean {
    let [short, long, own] = [0, 0, 0];
    const callers = new Set<string>();
    for (const scan of this.#running) {
      if (scan.isStep) continue;
      if (scan.isLong) long++;
      else short++;
      callers.add(scan.caller);
      if (scan.caller === caller && scan.isLong === isLong) own++;
    }
    // A caller without a running scan does not wait for the scans of a caller with many.
    if (!callers.has(caller) && callers.size < this.#maxRunning) return true;
    const half = Math.ceil(this.#maxRunning / 2);
    // Long scans that were admitted as short ones do not reduce the room of short ones.
    const hasRoom = isLong
      ? long < half && short + long < this.#maxRunning
      : short + Math.min(long, half) < this.#maxRunning;
    return hasRoom && (own < (isLong ? Math.ceil(half / 2) : half) || !this.#queue.hasOthers(caller, isLong));
  }

  #candidate({ kind, chars, caller = "", timeout }: AdmissionRequest): ScanCandidate {
    const now = this.#advance();
    this.#markLongScans();
    const cost = this.#estimates.expected(kind, chars);
    const assumed = (chars * ASSUMED_COST) / this.#machine.processors;
    const guess = this.#estimates.isMeasured(kind) ? cost : Math.max(cost, assumed);
    const isLong = guess > LONG_SCAN_SHARE * this.#limits.maxQueueTime;
    return {
      ...{ kind, chars, caller, cost, charge: guess, since: now, deadline: now + timeout, isLong },
      ...{ isStep: false, started: undefined },
    };
  }

  /** Learns from running scans that exceed their estimates, and marks those with a high cost as long. */
  #markLongScans(): void {
    for (const scan of this.#running) {
      const used = this.#virtualTime - (scan.started?.virtualTime ?? 0);
      if (used > scan.cost) this.#estimates.learnAtLeast(scan.kind, scan.chars, used);
      if (used > LONG_SCAN_SHARE * this.#limits.maxQueueTime) scan.isLong = true;
    }
  }

  /**
   * Tells whether a scan may start at once. Otherwise it has to wait.
   *
   * @throws GuardError `GUARD_OVERLOADED` if it would wait too long or miss its deadline.
   */
  #canStart(scan: ScanCandidate): boolean {
    const timeout = scan.deadline - scan.since;
    if (this.#missesDeadline(scan, 0)) throw this.#rejection("deadline", this.#expectedDuration(scan) - timeout);
    if (this.#canRun(scan)) return true;
    const wait = this.#expectedWaitOf(scan, this.#queue.workAhead(scan));
    if (wait > this.#limits.maxQueueTime) throw this.#rejection("queue_time", wait - this.#limits.maxQueueTime);
    if (this.#missesDeadline(scan, wait))
      throw this.#rejection("deadline", wait + this.#expectedDuration(scan) - timeout);
    return false;
  }

  /** The remaining cost of the running long scans, or of the running short ones. */
  #remainingWork(isLong: boolean): number {
    let sum = 0;
    for (const scan of this.#running) if (scan.isLong === isLong) sum += this.#remainingOf(scan);
    return sum;
  }

  #remainingOf({ cost, started }: QueuedScan): number {
    const used = this.#virtualTime - (started?.virtualTime ?? this.#virtualTime);
    return Math.max(cost - used, MIN_REMAINING_SHARE * used);
  }

  /** The seconds until a scan starts, with the work `ahead` before it in the queue of its length. */
  #expectedWaitOf({ isLong, caller }: ScanCandidate, ahead: WorkAhead): number {
    const others = this.#remainingWork(!isLong) + this.#queue.work(!isLong);
    // Long and short scans each get half of the machine.
    const inQueue = (this.#remainingWork(isLong) + ahead.all) * (others > 0 ? 2 : 1);
    // A caller without a running scan starts immediately, and shares the machine with the other callers.
    const callers = new Set([caller]);
    let own = ahead.own;
    for (const scan of this.#running) {
      callers.add(scan.caller);
      if (scan.caller === caller) own += this.#remainingOf(scan);
    }
    return callers.size > this.#maxRunning ? inQueue : Math.min(inQueue, own * callers.size);
  }

  /** The seconds that a scan will run beside those that run now. */
  #expectedDuration({ cost }: ScanCandidate): number {
    let sum = cost;
    for (const scan of this.#running) sum += Math.min(this.#remainingOf(scan), cost);
    return sum;
  }

  /** Whether a scan that starts after `wait` seconds is known to miss its deadline. */
  #missesDeadline(scan: ScanCandidate, wait: number): boolean {
    if (this.#limits.maxQueueTime === Number.POSITIVE_INFINITY || !this.#estimates.isKnown(scan.kind, scan.chars))
      return false;
    const isAlone = ![...this.#running].some(({ isLong }) => isLong === scan.isLong);
    return !isAlone && this.#lastUpdate + wait + this.#expectedDuration(scan) > scan.deadline;
  }

  #rejection(reason: ShedReason, seconds: number): GuardError {
    for (const listener of this.#listeners) listener.shed?.(reason);
    // Retry-After counts whole seconds.
    const retryAfter = Math.min(Math.max(Math.ceil(seconds), 1), 3600);
    return withoutStack(() => new GuardError("GUARD_OVERLOADED", MESSAGES[reason], { retryAfter }));
  }

  #start(scan: QueuedScan): void {
    // The load of the processors before the scan started says nothing about the scan.
    if (this.#running.size === 0 && this.#lastUpdate - this.#sample.at > MIN_SAMPLE_SECONDS)
      this.#sample = this.#readProcessors();
    const isWarmUp = !this.#estimates.isMeasured(scan.kind);
    const remove = this.#running.add(scan);
    scan.started = { at: this.#lastUpdate, virtualTime: this.#virtualTime, isWarmUp, remove };
    if (!scan.isStep) for (const listener of this.#listeners) listener.waited?.(this.#lastUpdate - scan.since);
    scan.start();
  }

  #end(scan: QueuedScan, isComplete: boolean): void {
    // A dropped scan is no longer counted.
    if (!scan.started) return;
    this.#finish(scan, isComplete);
    this.#admitted--;
    this.#startNext();
  }

  /** Removes a running scan, and updates the cost estimates. */
  #finish(scan: QueuedScan, isComplete: boolean): void {
    const now = this.#advance();
    const { kind, chars, started } = scan;
    if (!started) return;
    started.remove();
    const cost = this.#virtualTime - started.virtualTime;
    if (!isComplete) this.#estimates.learnAtLeast(kind, chars, cost);
    else {
      const duration = { seconds: now - started.at, isWarmUp: started.isWarmUp };
      this.#slowdown += (this.#estimates.learn(kind, chars, cost, duration) - this.#slowdown) / 5;
    }
  }

  #drop(scan: QueuedScan, reason: unknown): void {
    if (!this.#queue.remove(scan)) return;
    this.#admitted--;
    scan.drop(reason);
  }

  /** Starts the waiting scans that may run. */
  #startNext(): void {
    for (;;) {
      const next = this.#queue.size > 0 ? this.#queue.next((scan) => this.#canRun(scan)) : undefined;
      if (!next) break;
      this.#start(next);
    }
    if (this.#queue.size > 0) return;
    this.#stopReviews?.();
    this.#stopReviews = undefined;
  }

  /** Updates the estimates, drops waiting scans that would end too late, and starts those that may run. */
  #review(): void {
    const now = this.#advance();
    this.#markLongScans();
    this.#queue.updateCosts(({ kind, chars }) => this.#estimates.expected(kind, chars));
    let running = 0;
    for (const { isStep } of this.#running) if (!isStep) running++;
    if (this.#isContended) this.#maxRunning = Math.max(this.#minRunning, Math.floor(this.#maxRunning / 2));
    else if (running >= this.#maxRunning) this.#maxRunning = Math.min(2 * this.#maxRunning, this.#limits.maxScans);
    this.#startNext();
    const late: [QueuedScan, ShedReason, number][] = [];
    // Dropped scans shorten the wait of those behind them.
    const dropped = { long: 0, short: 0 };
    for (const [scan, { all, own }] of this.#queue.entries()) {
      const length = scan.isLong ? "long" : "short";
      const wait = this.#expectedWaitOf(scan, { all: Math.max(0, all - dropped[length]), own });
      const isLate = now - scan.since + wait > QUEUE_TIME_TOLERANCE * this.#limits.maxQueueTime;
      if (!isLate && !this.#missesDeadline(scan, wait)) continue;
      dropped[length] += scan.cost;
      late.push([scan, isLate ? "queue_time" : "deadline", wait - this.#limits.maxQueueTime]);
    }
    for (const [scan, reason, seconds] of late) this.#drop(scan, this.#rejection(reason, seconds));
    this.#startNext();
  }

  /** Whether more running scans would only slow down all of them. */
  get #isContended(): boolean {
    const isBusy = this.#processorShare >= BUSY_SHARE;
    // The bottleneck may be something else than the processors.
    const isSlower = this.#running.size >= 2 * this.#minRunning && this.#slowdown > this.#running.size / 2;
    return isBusy || isSlower;
  }

  /** Advances the virtual time of the running scans. Returns the current time. */
  #advance(): number {
    const now = this.#machine.now();
    if (now - this.#sample.at >= MIN_SAMPLE_SECONDS) this.#measure();
    const count = this.#running.size;
    if (count > 0) {
      const maxScans = this.#isContended ? this.#minRunning : this.#limits.maxScans;
      this.#virtualTime +=
        (now - this.#lastUpdate) * Math.max(this.#processorShare / count, 1 / Math.max(count, maxScans));
    }
    this.#lastUpdate = now;
    return now;
  }

  /** Measures the share of the available processors that this process uses. */
  #measure(): void {
    const { at, busy, idle } = this.#sample;
    const latest = this.#readProcessors();
    this.#sample = latest;
    const inUse = (latest.busy - busy) / (latest.at - at);
    const { processors } = this.#machine;
    const free =
      idle === undefined || latest.idle === undefined ? processors : Math.max(0, latest.idle - idle) / (latest.at - at);
    // Processors in use by other programs are not available. A container may be limited to fewer than the machine has.
    const usable = Math.min(inUse + free, processors);
    this.#processorShare = usable > 0 ? Math.min(inUse / usable, 1) : 1;
  }

  #readProcessors(): { at: number; busy: number; idle: number | undefined } {
    return { at: this.#machine.now(), busy: this.#machine.busy(), idle: this.#machine.idle() };
  }
}

/** The promise of scans that start at once. */
const STARTED = Promise.resolve();

const MESSAGES: Record<ShedReason, string> = {
  queue_time: "There is too much to do: the scan would have to wait too long.",
  deadline: "There is too much to do: the scan would not end in time.",
  queue_size: "Too many scans are under way.",
};

/** Returns a function that only acts on its first call. */
function once<Args extends unknown[]>(act: (...args: Args) => void): (...args: Args) => void {
  let isDone = false;
  return (...args) => {
    if (isDone) return;
    isDone = true;
    act(...args);
  };
}
