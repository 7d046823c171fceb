import { randomUUID } from "node:crypto";
import { CoalescedTask } from "../process/coalesced-task.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { type RedisLink, UnexpectedReplyError } from "../redis/redis-link.ts";
import { addAt, emptyCounts, flatten, parsePath } from "./counts.ts";
import { type CountedMinute, currentMinute, KEPT_MINUTES, type Traffic, type TrafficCounts } from "./traffic.ts";
import { HEARTBEAT_SCRIPT, PUBLISH_SCRIPT } from "./traffic-scripts.ts";

/** How often counts are sent to Redis, in milliseconds. */
const PUBLISH_MS = 1000;
/** How often a process reports, in milliseconds. */
const HEARTBEAT_MS = 5000;
/** A process without a heartbeat in this time is no longer reported, in seconds. */
const REPORTED_S = 15;
/** How long a closing server waits for its last counts to be sent, in milliseconds. */
const LAST_PUBLISH_MS = 500;
/** Replies are read in groups of this many minutes, so that scans in progress wait only for one group. */
const MINUTES_PER_READ = 10;
/** The tag in all keys puts them on one node of a cluster. */
const TAG = "{traffic}";
const INSTANCES_KEY = `${TAG}:instances`;
/** The first names of the two kinds of counts in Redis. */
const [OUTCOMES, SUMS] = ["outcomes", "sums"];
const OUTCOMES_START = `["${OUTCOMES}",`;

/** A client with the scripts as commands. */
type CountingClient = RedisClient &
  Record<"guardPublish" | "guardHeartbeat", (...args: (string | number)[]) => Promise<unknown>>;

/** What one minute of all instances contains: names and amounts. */
type Amounts = [name: string, amount: number][];

/** The counts of all instances. */
export interface SummedTraffic {
  counts: Pick<TrafficCounts, "minutes" | "sums">;
  /** How many instances have reported lately. */
  instances: number;
}

/**
 * Adds the counts of this process to those of other instances in Redis, in the background. Redis has the sums of each minute, and what each
 * process has added to them: sending counts again, after a timeout or when Redis has lost its data, adds nothing twice. Counts contain names of
 * scanners, credentials and profiles, never texts.
 */
export class SharedTraffic {
  readonly #traffic: Traffic;
  /** The server and this process. */
  readonly #process: string;
  /** The links of configurations that serve or are being loaded. The last one is used. */
  readonly #links: RedisLink[] = [];
  /** How many changes of a minute Redis has, by the number of the minute. */
  readonly #published = new Map<number, number>();
  readonly #publishing = new CoalescedTask(() => this.#publish());
  #timer: NodeJS.Timeout | undefined;
  /** When the next heartbeat is due, on the clock of `performance.now()`. */
  #heartbeatAt = 0;

  /** @param instance the id of the server, which all its processes share. */
  constructor(traffic: Traffic, instance: string) {
    this.#traffic = traffic;
    this.#process = `${instance}/${randomUUID()}`;
  }

  /** Sends the counts through a link from now on. */
  attach(link: RedisLink): void {
    this.#links.push(link);
    this.#resendAll();
    this.#timer ??= setInterval(() => {
      // A slow Redis must not collect calls.
      if (!this.#publishing.running) void this.#publishing.run();
    }, PUBLISH_MS).unref();
  }

  /** Stops using a link. If it is the only one, the latest counts are sent first. */
  async detach(link: RedisLink): Promise<void> {
    // A server that closes before it is ready has not attached its link.
    if (!this.#links.includes(link)) return;
    if (this.#links.length === 1) await this.#leave(link);
    this.#links.splice(this.#links.indexOf(link), 1);
    this.#resendAll();
    if (this.#links.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns the sums of the last minutes, or undefined if Redis does not respond. */
  async read(minutes: number): Promise<SummedTraffic | undefined> {
    const link = this.#links.at(-1);
    this.#heartbeatAt = 0;
    if (!link || !(await this.#publishing.run())) return undefined;
    const read = new Map<number, Amounts>();
    const last = currentMinute();
    for (let first = last - minutes + 1; first <= last; first += MINUTES_PER_READ) {
      const numbers = Array.from({ length: Math.min(MINUTES_PER_READ, last - first + 1) }, (_, index) => first + index);
      const reply = await link.use("traffic", sumsKey(first), (client) => readMinutes(client, numbers));
      if (!reply) return undefined;
      for (const [index, amounts] of reply.value.entries()) read.set(numbers[index] as number, amounts);
    }
    const reply = await link.use("traffic", INSTANCES_KEY, readInstances);
    return reply && { counts: sumOf(read), instances: reply.value.size };
  }

  /** Sends the minutes that have changed. Returns whether Redis has all of them. */
  async #publish(): Promise<boolean> {
    const link = this.#links.at(-1);
    if (!link || !(await this.#beat(link))) return false;
    const minutes = this.#traffic.keptMinutes;
    for (const minute of minutes) {
      const { number, changes } = minute;
      if (this.#published.get(number) === changes) continue;
      const reply = await link.use("traffic", sumsKey(number), (client) => this.#send(client, minute));
      if (!reply) return false;
      if (link === this.#links.at(-1)) this.#published.set(number, changes);
    }
    for (const number of this.#published.keys()) {
      if (number < (minutes[0]?.number ?? 0)) this.#published.delete(number);
    }
    return true;
  }

  async #send(client: RedisClient, { number, outcomes, sums }: CountedMinute): Promise<void> {
    const counts = Object.fromEntries([...flatten(outcomes, [OUTCOMES]), ...flatten(sums, [SUMS])]);
    const seconds = (number + KEPT_MINUTES + 1 - currentMinute()) * 60;
    const keys = [sumsKey(number), `${TAG}:processes:${number}`] as const;
    const reply = await withScripts(client).guardPublish(...keys, this.#process, JSON.stringify(counts), seconds);
    if (reply !== 1) throw new UnexpectedReplyError("guardPublish");
  }

  /** Reports that this process runs, if that is due. Returns whether Redis responds. */
  async #beat(link: RedisLink): Promise<boolean> {
    const now = performance.now();
    if (now < this.#heartbeatAt) return true;
    const reply = await link.use("traffic", INSTANCES_KEY, async (client) => {
      const added = await withScripts(client).guardHeartbeat(INSTANCES_KEY, this.#process, REPORTED_S);
      if (added !== 0 && added !== 1) throw new UnexpectedReplyError("guardHeartbeat");
      return added;
    });
    if (!reply) return false;
    this.#heartbeatAt = now + HEARTBEAT_MS;
    // Redis does not know this process: it may have lost its data, or be another Redis.
    if (reply.value === 1) this.#published.clear();
    return true;
  }

  #resendAll(): void {
    this.#published.clear();
    this.#heartbeatAt = 0;
  }

  /** Sends the latest counts, and is no longer reported. */
  async #leave(link: RedisLink): Promise<void> {
    const leaving = this.#publishing
      .run()
      .then(() => link.use("traffic", INSTANCES_KEY, (client) => client.zrem(INSTANCES_KEY, this.#process)));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise((resolve) => {
      timer = setTimeout(resolve, LAST_PUBLISH_MS);
    });
    await Promise.race([leaving, timeout]);
    clearTimeout(timer);
  }
}

function sumsKey(minute: number): string {
  return `${TAG}:minute:${minute}`;
}

function withScripts(client: RedisClient): CountingClient {
  const counting = client as CountingClient;
  if (!counting.guardPublish) {
    client.defineCommand("guardPublish", { numberOfKeys: 2, lua: PUBLISH_SCRIPT });
    client.defineCommand("guardHeartbeat", { numberOfKeys: 1, lua: HEARTBEAT_SCRIPT });
  }
  return counting;
}

/** Adds up the counts of minutes. */
function sumOf(read: ReadonlyMap<number, Amounts>): SummedTraffic["counts"] {
  const counts = { minutes: emptyCounts(), sums: emptyCounts() };
  const totals = new Map<string, number>();
  for (const [number, amounts] of read) {
    for (const [name, amount] of amounts) totals.set(name, (totals.get(name) ?? 0) + amount);
    for (const [name, amount] of amounts) {
      if (!name.startsWith(OUTCOMES_START)) continue;
      addAt(counts.minutes, [String(number), ...parsePath(name).slice(1)], amount);
    }
  }
  for (const [name, amount] of totals) {
    const [kind, ...path] = parsePath(name);
    if (kind === SUMS) addAt(counts.sums, path, amount);
  }
  return counts;
}

/** Returns the ids of the servers that have reported lately. */
async function readInstances(client: RedisClient): Promise<Set<string | undefined>> {
  const processes: unknown = await client.zrange(INSTANCES_KEY, "0", "-1");
  if (!Array.isArray(processes)) throw new UnexpectedReplyError("zrange");
  return new Set(processes.map((process) => String(process).split("/")[0]));
}

/** Returns the counts of each minute. */
async function readMinutes(client: RedisClient, numbers: readonly number[]): Promise<Amounts[]> {
  const pipeline = client.pipeline();
  for (const number of numbers) pipeline.hgetall(sumsKey(number));
  const replies = (await pipeline.exec()) ?? [];
  if (replies.length !== numbers.length) throw new UnexpectedReplyError("hgetall");
  return replies.map(([error, reply]) => {
    if (error) throw error;
    if (typeof reply !== "object" || reply === null) throw new UnexpectedReplyError("hgetall");
    return Object.entries(reply).map(([name, text]) => {
      const amount = Number(text);
      if (!Number.isFinite(amount)) throw new UnexpectedReplyError("hgetall");
      return [name, amount];
    });
  });
}
