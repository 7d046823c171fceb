import { isDeepStrictEqual } from "node:util";
import type { FastifyBaseLogger } from "fastify";
import type { Redis, RedisOptions } from "ioredis";
import type { RedisSettings } from "../../config/index.ts";
import { requirePackages } from "../../support/optional-packages.ts";
import type { RedisUse } from "./redis-use.ts";

/** During an outage one request in this time tries Redis; the others continue without it at once. */
const RETRY_MS = 1000;
const MAX_RECONNECT_DELAY_MS = 1000;
/** A connection that is silent for this time is replaced. */
const MIN_SOCKET_TIMEOUT_MS = 5000;

export interface RedisObserver {
  log: Pick<FastifyBaseLogger, "warn" | "info">;
  /** Called for each request that continues without Redis. */
  onFailure(use: RedisUse): void;
}

/**
 * A connection to Redis with a circuit breaker. No request waits longer than the timeout. During an outage requests do not wait at all,
 * except for one a second that tries again.
 */
export class RedisLink {
  readonly client: Redis;
  readonly settings: RedisSettings;
  readonly #observer: RedisObserver;
  /** The first attempt to connect, while it lasts. */
  #connecting: Promise<void> | undefined;
  /** The current outage, on the clock of `performance.now()`. */
  #outage: { since: number; retryAt: number } | undefined;
  /** The error replies of this connection that are logged already, by use and reason. */
  readonly #loggedErrors = new Set<string>();
  #isClosed = false;
  /** The reason of the last connection error. Errors of commands do not contain it. */
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
      this.#loggedErrors.clear();
      this.#endOutage();
    });
  }

  /** Loads the client and creates a link, which is not connected yet. */
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
      // Gives up a silent connection, with its pending commands.
      socketTimeout: Math.max(MIN_SOCKET_TIMEOUT_MS, timeout * 1000),
      // A command must not be sent later: its request has continued without it.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, MAX_RECONNECT_DELAY_MS),
      // After a failover the old primary refuses writes, and its name may point to the new one.
      reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    } satisfies RedisOptions;
    // The client expects the plain path of a socket.
    const client = new Redis(url.startsWith("unix:") ? decodeURIComponent(new URL(url).pathname) : url, options);
    return new RedisLink(client, settings, observer);
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

  /**
   * Sends commands.
   *
   * @returns undefined if Redis timed out, replied with an error, or is in an outage.
   */
  async use<T>(use: RedisUse, send: (client: Redis) => Promise<T>): Promise<{ value: T } | undefined> {
    const now = performance.now();
    if (this.#outage && now < this.#outage.retryAt) {
      this.#observer.onFailure(use);
      return undefined;
    }
    if (this.#outage) this.#outage.retryAt = now + RETRY_MS;
    try {
      const value = await withTimeout(this.settings.timeout * 1000, async () => {
        if (this.#connecting) await this.#connecting;
        return send(this.client);
      });
      this.#endOutage();
      return { value };
    } catch (error) {
      this.#observer.onFailure(use);
      if (isErrorReply(error as Error)) this.#onErrorReply(use, error as Error);
      else this.#startOutage(use, error as Error);
      return undefined;
    }
  }

  /** Closes the connection. Pending commands fail. */
  close(): void {
    this.#isClosed = true;
    this.client.disconnect();
  }

  /** Redis works but refuses the command, for example because it is full or the user lacks a right. Other uses may still work. */
  #onErrorReply(use: RedisUse, error: Error): void {
    this.#endOutage();
    const reason = reasonOf(error) ?? "error";
    if (this.#loggedErrors.has(`${use} ${reason}`)) return;
    this.#loggedErrors.add(`${use} ${reason}`);
    this.#observer.log.warn({ redis: this.#address, use, reason }, "Redis replies with an error (logged once)");
  }

  #startOutage(use: RedisUse, error: Error): void {
    if (this.#outage || this.#isClosed) return;
    const now = performance.now();
    this.#outage = { since: now, retryAt: now + RETRY_MS };
    const reason = reasonOf(error) ?? this.#lastReason ?? "not connected";
    this.#observer.log.warn(
      { redis: this.#address, use, reason },
      "Redis does not respond: requests continue without it",
    );
  }

  #endOutage(): void {
    if (!this.#outage) return;
    const seconds = Math.round((performance.now() - this.#outage.since) / 100) / 10;
    this.#outage = undefined;
    this.#observer.log.info({ redis: this.#address, seconds }, "Redis responds again");
  }

  /** The address without credentials. */
  get #address(): string {
    const { host, port, path } = this.client.options;
    return path ?? `${host}:${port}`;
  }
}

/** The links of one server. Equal settings share a link. */
export class RedisLinks {
  readonly #observer: RedisObserver;
  readonly #links: RedisLink[] = [];

  constructor(observer: RedisObserver) {
    this.#observer = observer;
  }

  /** Returns the link for settings, if there are any. */
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

/** Redis, or a proxy in front of it, sent a reply of another type than the command has. It counts as an error reply. */
export class UnexpectedReplyError extends Error {
  override readonly name = "ReplyError";
  readonly code = "unexpected_reply";

  constructor(command: string) {
    super(`the reply to ${command} has another type`);
  }
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

/** Returns whether Redis replied with this error. */
function isErrorReply({ name }: Error): boolean {
  return name === "ReplyError";
}
