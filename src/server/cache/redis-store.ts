import type { KeyObject } from "node:crypto";
import { type RedisLink, UnexpectedReplyError } from "../redis/redis-link.ts";
import { openText, sealText } from "../vault/sealed-text.ts";
import type { CacheStore } from "./result-cache.ts";

/**
 * Stores results in Redis, encrypted and authenticated: Redis reveals no texts and verdicts, and values cannot be forged. A value is bound
 * to its key and contains its expiry, so it cannot replace another one or be replayed later.
 */
export class RedisStore implements CacheStore {
  readonly #link: RedisLink;
  readonly #secret: KeyObject;
  readonly #ttlMs: number;
  readonly #kind: string;

  /** @param kind results of scans, or verdicts of single texts. */
  constructor(
    link: RedisLink,
    { secret, ttlMs }: { secret: KeyObject; ttlMs: number },
    kind: "scan" | "verdict" = "scan",
  ) {
    this.#kind = kind;
    this.#link = link;
    this.#secret = secret;
    this.#ttlMs = Math.ceil(ttlMs);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.getAll([key]))[0];
  }

  /** Returns the values of several keys with one command. */
  async getAll(keys: readonly string[]): Promise<(string | undefined)[]> {
    const reply = await this.#link.use("cache", async (client) => {
      const values: unknown = await client.mgetBuffer(keys.map((key) => this.#nameOf(key)));
      if (!areValues(values, keys.length)) throw new UnexpectedReplyError("MGET");
      return values;
    });
    return keys.map((key, index) => {
      const value = reply?.value[index];
      const opened = value ? openText(this.#bindingOf(key), value) : undefined;
      if (opened === undefined) return undefined;
      const line = opened.indexOf("\n");
      return Number(opened.slice(0, line)) > Date.now() ? opened.slice(line + 1) : undefined;
    });
  }

  set(key: string, text: string): void {
    const sealed = sealText(this.#bindingOf(key), `${Date.now() + this.#ttlMs}\n${text}`);
    void this.#link.use("cache", (client) => client.set(this.#nameOf(key), sealed, "PX", this.#ttlMs));
  }

  #bindingOf(key: string) {
    return { secret: this.#secret, purpose: "cache value", context: `${this.#kind}:${key}` };
  }

  /** The key in Redis, without the prefix of all keys. */
  #nameOf(key: string): string {
    return `${this.#kind}:${key}`;
  }
}

/** Whether a reply has a value or null for each key. */
function areValues(reply: unknown, count: number): reply is (Buffer | null)[] {
  return (
    Array.isArray(reply) && reply.length === count && reply.every((value) => value === null || Buffer.isBuffer(value))
  );
}
