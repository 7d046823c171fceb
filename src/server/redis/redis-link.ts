import { isDeepStrictEqual } from "node:util";
import type { FastifyBaseLogger } from "fastify";
import type { Redis, RedisOptions } from "ioredis";
import type { RedisSettings } from "../../config/index.ts";
import { requirePackages } from "../../support/optional-packages.ts";

/** What the server needs Redis for, as metrics and the log name it. */
export type RedisUse = "cache" | "rate_limit";

/** While Redis does not answer, one request tries it in this many milliseconds. The others go on without it at once. */
const RETRY_MS = 1000;
/** The most milliseconds between two attempts to connect. */
const RECONNECT_MS = 1000;
/** After this many milliseconds without an answer a connection is made anew. */
const SILENCE_MS = 5000;

/** Who is told when Redis does not answer. */
export interface RedisObserver {
  log: Pick<FastifyBaseLogger, "warn" | "info">;
  /** Called for each request that has to do without Redis. */
  onFailure(use: RedisUse): void;
}

/**
 * A connection to a Redis server that may be slow or gone. No request waits for it longer than its timeout, and while it does not
 * answer, requests do not wait at all, except for one a second that tries it.
 */
export class RedisLink {
  readonly client: Redis;
  readonly settings: RedisSettings;
  readonly #observer: RedisObserver;
  /** The first attempt to connect, until it has ended. */
  #connecting: Promise<void> | undefined;
  /** When Redis stopped answering and when it is tried again, in milliseconds of `performance.now()`; absent while it answers. */
  #outage: { since: number; retryAt: number } | undefined;
  /** The uses and reasons of the errors that Redis has answered with on this connection. */
  readonly #refusals = new Set<string>();
  #isClosed = false;
  /** The reason of the last error of the connection, which the errors of commands do not have. */
  #lastReason: string | undefined;

  private constructor(client: Redis, settings: RedisSettings, observer: RedisObserver) {
    this.client = client;
    this.settings = settings;
    this.#observer = observer;
    client.on("error", (error: Error) => {
      this.#lastReason = reasonOf(error) ?? this.#lastReason;
    });
    client.on("ready", () => {
      this.#lastReason = undefined;
      this.#refusals.clear();
      this.#answered();
    });
  }

  /** Makes a link, and loads the client for it. It does not connect yet. */
  static async make(settings: RedisSettings, observer: RedisObserver): Promise<RedisLink> {
    requirePackages("Redis", ["ioredis"]);
    const { Redis } = await import("ioredis");
    const { url, username, password, timeout, prefix } = settings;
    const options = {
      ...(username ? { username } : {}),
      ...(password ? { password } : {}),
      keyPrefix: prefix,
      connectionName: "guard",
      lazyConnect: true,
      // A connection over which nothing comes back is given up, with the commands that wait on it.
      socketTimeout: Math.max(SILENCE_MS, timeout * 1000),
      // A command that cannot be sent now is of no use later: the request has gone on without it.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, RECONNECT_MS),
      // After a failover the old primary refuses to write. Its name may belong to the new one by now.
      reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    } satisfies RedisOptions;
    // The client takes the path of a socket as it is.
    const client = new Redis(url.startsWith("unix:") ? decodeURIComponent(new URL(url).pathname) : url, options);
    return new RedisLink(client, settings, observer);
  }

  /** Begins to connect. Nobody has to wait for it: the first requests wait for the connection as long as for an answer. */
  connect(): void {
    this.#connecting = this.client
      .connect()
      .catch(() => {})
      .finally(() => {
        this.#connecting = undefined;
      });
  }

  /**
   * Uses Redis for a request.
   *
   * @param work sends commands.
   * @returns undefined when Redis did not answer in time, answered with an error, or was not asked because it did not answer before.
   */
  async use<T>(use: RedisUse, work: (client: Redis) => Promise<T>): Promise<{ value: T } | undefined> {
    const now = performance.now();
    if (this.#outage && now < this.#outage.retryAt) {
      this.#observer.onFailure(use);
      return undefined;
    }
    if (this.#outage) this.#outage.retryAt = now + RETRY_MS;
    try {
      const value = await within(this.settings.timeout * 1000, async () => {
        if (this.#connecting) await this.#connecting;
        return work(this.client);
      });
      this.#answered();
      return { value };
    } catch (error) {
      this.#observer.onFailure(use);
      if (isReply(error as Error)) this.#refused(use, error as Error);
      else this.#failed(use, error as Error);
      return undefined;
    }
  }

  /** Ends the connection. Commands under way fail. */
  close(): void {
    this.#isClosed = true;
    this.client.disconnect();
  }

  /** Redis answers, but not with what was asked for, because it is full or the user may not do that. Other uses may go on well. */
  #refused(use: RedisUse, error: Error): void {
    this.#answered();
    const reason = reasonOf(error) ?? "error";
    if (this.#refusals.has(`${use} ${reason}`)) return;
    this.#refusals.add(`${use} ${reason}`);
    this.#observer.log.warn({ redis: this.#address, use, reason }, "Redis answers with an error (said once)");
  }

  #failed(use: RedisUse, error: Error): void {
    if (this.#outage || this.#isClosed) return;
    const now = performance.now();
    this.#outage = { since: now, retryAt: now + RETRY_MS };
    const reason = reasonOf(error) ?? this.#lastReason ?? "not connected";
    this.#observer.log.warn({ redis: this.#address, use, reason }, "Redis does not answer: requests go on without it");
  }

  #answered(): void {
    if (!this.#outage) return;
    const seconds = Math.round((performance.now() - this.#outage.since) / 100) / 10;
    this.#outage = undefined;
    this.#observer.log.info({ redis: this.#address, seconds }, "Redis answers again");
  }

  /** Where the server is, without what may be secret in its URL. */
  get #address(): string {
    const { host, port, path } = this.client.options;
    return path ?? `${host}:${port}`;
  }
}

/** The links of one server. Those with the same settings are one. */
export class RedisLinks {
  readonly #observer: RedisObserver;
  readonly #links: RedisLink[] = [];

  constructor(observer: RedisObserver) {
    this.#observer = observer;
  }

  /** The link of some settings, if there are any. */
  async link(settings: RedisSettings | undefined): Promise<RedisLink | undefined> {
    if (!settings) return undefined;
    const known = this.#links.find((link) => isDeepStrictEqual(link.settings, settings));
    if (known) return known;
    const link = await RedisLink.make(settings, this.#observer);
    this.#links.push(link);
    return link;
  }

  connect(): void {
    for (const link of this.#links) link.connect();
  }

  close(): void {
    for (const link of this.#links) link.close();
  }
}

/** An answer that did not come in time. */
class TimeoutError extends Error {
  readonly code = "timeout";
}

/** Waits for the result of `work`, but no longer than some milliseconds. */
async function within<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    // After the event loop was busy, timers come before answers that have arrived meanwhile. These are read before the immediate.
    timer = setTimeout(() => setImmediate(() => reject(new TimeoutError())), milliseconds);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Why something failed, in one word: the code of a system error (`ECONNREFUSED`), the code that Redis' errors begin with
 * (`WRONGPASS`), or `timeout`. The whole message may quote a command.
 */
function reasonOf(error: Error & { code?: unknown }): string | undefined {
  if (typeof error.code === "string") return error.code;
  return isReply(error) ? /^[A-Z]{2,20}\b/.exec(error.message)?.[0] : undefined;
}

/** Whether an error is an answer of Redis. */
function isReply({ name }: Error): boolean {
  return name === "ReplyError";
}
