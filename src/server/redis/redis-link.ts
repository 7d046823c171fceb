import { isDeepStrictEqual } from "node:util";
import type { FastifyBaseLogger } from "fastify";
import type { Cluster } from "ioredis";
import type { RedisSettings } from "../../config/index.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { createRedisClient, type RedisClient } from "./redis-client.ts";
import type { RedisUse } from "./redis-use.ts";
import { slotOf } from "./slots.ts";

export interface RedisObserver {
  log: Pick<FastifyBaseLogger, "warn" | "info">;
  /** Called for each request that continues without Redis. */
  onFailure(use: RedisUse): void;
}

/**
 * A connection to Redis with circuit breakers. No request waits longer than the timeout. During an outage requests do not wait at all,
 * except for one a second that tries again. The primaries of a cluster fail one by one, so each has a breaker of its own.
 */
export class RedisLink {
  readonly client: RedisClient;
  readonly settings: RedisSettings;
  readonly #observer: RedisObserver;
  /** The first attempt to connect, while it lasts. */
  #connecting: Promise<void> | undefined;
  /** By address of a primary. The one with an empty name is for the only server, or for a cluster whose slots are not known yet. */
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** The error replies of this connection that are logged already, by use and reason. */
  readonly #loggedErrors = new Set<string>();
  #isClosed = false;
  /** The reason of the last connection error. Errors of commands do not contain it. */
  #lastReason: string | undefined;

  private constructor(client: RedisClient, settings: RedisSettings, observer: RedisObserver) {
    this.client = client;
    this.settings = settings;
    this.#observer = observer;
    const noteReason = (error: Error) => {
      this.#lastReason = reasonOf(error) ?? this.#lastReason;
    };
    client.on("error", noteReason);
    client.on("node error", noteReason);
    client.on("sentinelError", (error: Error) => {
      this.#lastReason = sentinelReasonOf(error) ?? this.#lastReason ?? "no sentinel responds";
    });
    client.on("ready", () => {
      this.#lastReason = undefined;
      this.#loggedErrors.clear();
      this.#endOutage("");
    });
    client.on("refresh", () => this.#forgetOldNodes());
  }

  /** Loads the client and creates a link, which is not connected yet. */
  static async make(settings: RedisSettings, observer: RedisObserver): Promise<RedisLink> {
    return new RedisLink(await createRedisClient(settings), settings, observer);
  }

  /** Starts to connect. The first requests wait for the connection, at most for the timeout. */
  connect(): void {
    this.#connecting = this.client
      .connect()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined;
      });
  }

  /** Whether Redis is connected, and responds for all keys as far as is known. */
  get isUp(): boolean {
    return this.client.status === "ready" && ![...this.#breakers.values()].some(({ isOpen }) => isOpen);
  }

  /**
   * Sends commands.
   *
   * @param key a key of the commands, without the prefix. In a cluster all of them must belong to the same node; see {@link byNode}.
   * @returns undefined if Redis timed out, replied with an error, or is in an outage.
   */
  async use<T>(
    use: RedisUse,
    key: string,
    send: (client: RedisClient) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const node = this.#nodeOf(key);
    if (!this.#breakerOf(node).admit()) {
      this.#observer.onFailure(use);
      return undefined;
    }
    try {
      const value = await withTimeout(this.settings.timeout * 1000, async () => {
        if (this.#connecting) await this.#connecting;
        // Otherwise the commands would be queued, and sent after the outage.
        if (isCluster(this.client) && this.client.status !== "ready") throw new Error("the cluster is not connected");
        return send(this.client);
      });
      this.#endOutage(node);
      return { value };
    } catch (error) {
      this.#observer.onFailure(use);
      if (isErrorReply(error as Error)) this.#onErrorReply(use, node, error as Error);
      else this.#startOutage(use, node, error as Error);
      return undefined;
    }
  }

  /** Groups keys by the node that has them, so that an outage of one node does not affect the others. */
  byNode(keys: readonly string[]): string[][] {
    if (!isCluster(this.client)) return [[...keys]];
    const groups = new Map<string, string[]>();
    for (const key of keys) {
      const node = this.#nodeOf(key);
      const group = groups.get(node);
      if (group) group.push(key);
      else groups.set(node, [key]);
    }
    return [...groups.values()];
  }

  /** Closes the connection. Pending commands fail. */
  close(): void {
    this.#isClosed = true;
    this.client.disconnect();
  }

  /** The address of the primary that has a key; empty if there is only one, or if it is not known. */
  #nodeOf(key: string): string {
    if (!isCluster(this.client)) return "";
    return this.client.slots[slotOf(this.settings.prefix + key)]?.[0] ?? "";
  }

  #breakerOf(node: string): CircuitBreaker {
    const known = this.#breakers.get(node);
    if (known) return known;
    const breaker = new CircuitBreaker();
    this.#breakers.set(node, breaker);
    return breaker;
  }

  /** Redis works but refuses the command, for example because it is full or the user lacks a right. Other uses may still work. */
  #onErrorReply(use: RedisUse, node: string, error: Error): void {
    this.#endOutage(node);
    const reason = reasonOf(error) ?? "error";
    if (this.#loggedErrors.has(`${use} ${reason}`)) return;
    this.#loggedErrors.add(`${use} ${reason}`);
    this.#observer.log.warn({ redis: this.#addressOf(node), use, reason }, "Redis replies with an error (logged once)");
  }

  #startOutage(use: RedisUse, node: string, error: Error): void {
    if (this.#isClosed || !this.#breakerOf(node).open()) return;
    // The cause of a timeout may be that there is no connection.
    const lastReason = this.client.status === "ready" ? undefined : this.#lastReason;
    const reason = lastReason ?? reasonOf(error) ?? this.#lastReason ?? "not connected";
    this.#observer.log.warn(
      { redis: this.#addressOf(node), use, reason },
      "Redis does not respond: requests continue without it",
    );
  }

  #endOutage(node: string): void {
    const seconds = this.#breakers.get(node)?.close();
    if (seconds === undefined) return;
    this.#observer.log.info({ redis: this.#addressOf(node), seconds }, "Redis responds again");
  }

  /** Ends the outages of nodes without slots: other nodes have taken over. */
  #forgetOldNodes(): void {
    if (!isCluster(this.client) || this.#breakers.size === 0) return;
    const primaries = new Set(this.client.slots.map((nodes) => nodes?.[0]));
    for (const [node, breaker] of this.#breakers) {
      if (node === "" || primaries.has(node)) continue;
      this.#breakers.delete(node);
      const seconds = breaker.close();
      if (seconds === undefined) continue;
      this.#observer.log.info({ redis: node, seconds }, "another node of the cluster has taken over");
    }
  }

  /** An address without credentials. */
  #addressOf(node: string): string {
    if (node !== "") return node;
    const { sentinel, cluster } = this.settings;
    if (sentinel) return sentinel.name;
    if (cluster) return cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(",");
    const { host, port, path } = (this.client as Exclude<RedisClient, Cluster>).options;
    return path ?? `${host}:${port}`;
  }
}

/** The links of one server. Equal settings share a link. */
export class RedisLinks {
  readonly #observer: RedisObserver;
  readonly #links: RedisLink[] = [];
  readonly #uses = new Map<RedisUse, RedisLink>();

  constructor(observer: RedisObserver) {
    this.#observer = observer;
  }

  /** Returns the link for settings, if there are any. */
  async link(use: RedisUse, settings: RedisSettings | undefined): Promise<RedisLink | undefined> {
    if (!settings) return undefined;
    const known = this.#links.find((link) => isDeepStrictEqual(link.settings, settings));
    const link = known ?? (await RedisLink.make(settings, this.#observer));
    if (!known) this.#links.push(link);
    this.#uses.set(use, link);
    return link;
  }

  /** Whether Redis responds, by use. */
  get states(): [RedisUse, boolean][] {
    return [...this.#uses].map(([use, link]) => [use, link.isUp]);
  }

  connect(): void {
    for (const link of this.#links) link.connect();
  }

  close(): void {
    for (const link of this.#links) link.close();
  }
}

/** Redis, or a proxy in front of it, sent a reply of another type than the command has. It counts as an error reply. */
export class UnexpectedReplyError extends Error {
  override readonly name = "ReplyError";
  readonly code = "unexpected_reply";

  constructor(command: string) {
    super(`the reply to ${command} has another type`);
  }
}

export function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster;
}

class TimeoutError extends Error {
  readonly code = "timeout";
}

async function withTimeout<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    // After a busy event loop, timers fire before replies that have arrived are read; immediates fire after that.
    timer = setTimeout(() => setImmediate(() => reject(new TimeoutError())), milliseconds);
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the code of a system error (`ECONNREFUSED`), the code at the start of an error reply (`WRONGPASS`), or `timeout`. The whole
 * message may quote a command.
 */
function reasonOf(error: Error & { code?: unknown }): string | undefined {
  if (typeof error.code === "string") return error.code;
  return isErrorReply(error) ? /^[A-Z]{2,20}\b/.exec(error.message)?.[0] : undefined;
}

/** The client wraps the errors of sentinels in texts. */
function sentinelReasonOf({ message }: Error): string | undefined {
  if (/No such master|invalid reply/.test(message)) return "the sentinels do not know the name";
  const code = / because ([A-Z]{4,20})\b/.exec(message)?.[1];
  return code === undefined ? undefined : `${code} of a sentinel`;
}

/** Returns whether Redis replied with this error. A cluster without a part of its nodes replies that it is down. */
function isErrorReply({ name, message }: Error): boolean {
  return name === "ReplyError" && !/^(?:CLUSTERDOWN|MASTERDOWN)\b/.test(message);
}
