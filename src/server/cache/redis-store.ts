import type { KeyObject } from "node:crypto";
import type { RedisClient } from "../redis/redis-client.ts";
import { isCluster, type RedisLink, UnexpectedReplyError } from "../redis/redis-link.ts";
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

  /** Returns the values of several keys. */
  async getAll(keys: readonly string[]): Promise<(string | undefined)[]> {
    const found = new Map<string, Buffer>();
    const groups = this.#link.byNode(keys.map((key) => this.#nameOf(key)));
    const readGroup = async (names: string[]) => {
      const reply = await this.#link.use("cache", names[0] ?? "", (client) => readValues(client, names));
      reply?.value.forEach((value, index) => {
        if (value) found.set(names[index] as string, value);
      });
    };
    await Promise.all(groups.map(readGroup));
    return keys.map((key) => {
      const value = found.get(this.#nameOf(key));
      const opened = value ? openText(this.#bindingOf(key), value) : undefined;
      if (opened === undefined) return undefined;
      const line = opened.indexOf("\n");
      return Number(opened.slice(0, line)) > Date.now() ? opened.slice(line + 1) : undefined;
    });
  }

  set(key: string, text: string): void {
    const sealed = sealText(this.#bindingOf(key), `${Date.now() + this.#ttlMs}\n${text}`);
    const name = this.#nameOf(key);
    void this.#link.use("cache", name, (client) => client.set(name, sealed, "PX", this.#ttlMs));
  }

  #bindingOf(key: string) {
    return { secret: this.#secret, purpose: "cache value", context: `${this.#kind}:${key}` };
  }

  /** The key in Redis, without the prefix of all keys. */
  #nameOf(key: string): string {
    return `${this.#kind}:${key}`;
  }
}

/** Reads keys with one command, or with one for each key in a cluster, where the keys have different slots. */
async function readValues(client: RedisClient, names: readonly string[]): Promise<(Buffer | null)[]> {
  const values: unknown = isCluster(client)
    ? await Promise.all(names.map((name) => client.getBuffer(name)))
    : await client.mgetBuffer([...names]);
  if (!areValues(values, names.length)) throw new UnexpectedReplyError("MGET");
  return values;
}

/** Whether a reply has a value or null for each key. */
function areValues(reply: unknown, count: number): reply is (Buffer | null)[] {
  return (
    Array.isArray(reply) && reply.length === count && reply.every((value) => value === null || Buffer.isBuffer(value))
  );
}
