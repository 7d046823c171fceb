import type { KeyObject } from "node:crypto";
import type { RedisLink } from "../redis/redis-link.ts";
import { openText, sealText } from "../vault/sealed-text.ts";
import type { CacheStore } from "./result-cache.ts";

/**
 * Keeps results in Redis, encrypted: whoever reads Redis learns no text and no verdict, and whoever writes there can make none that
 * is believed. Each value is bound to its key, and knows when it expires, so that it cannot be put in the place of another one
 * or be brought back later.
 */
export class RedisStore implements CacheStore {
  readonly #link: RedisLink;
  readonly #secret: KeyObject;
  readonly #ttl: number;
  readonly #kind: string;

  /**
   * @param ttl in seconds.
   * @param kind what is kept: results of scans, or verdicts of single texts.
   */
  constructor(link: RedisLink, { secret, ttl }: { secret: KeyObject; ttl: number }, kind: "scan" | "verdict" = "scan") {
    this.#kind = kind;
    this.#link = link;
    this.#secret = secret;
    this.#ttl = Math.ceil(ttl * 1000);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.getAll([key]))[0];
  }

  /** Returns the values of several keys, in their order, with one question to Redis. */
  async getAll(keys: readonly string[]): Promise<(string | undefined)[]> {
    const got = await this.#link.use("cache", (client) => client.mgetBuffer(keys.map((key) => this.#nameOf(key))));
    return keys.map((key, index) => {
      const value = got?.value[index];
      const opened = value ? openText(this.#sealedFor(key), value) : undefined;
      if (opened === undefined) return undefined;
      const line = opened.indexOf("\n");
      return Number(opened.slice(0, line)) > Date.now() ? opened.slice(line + 1) : undefined;
    });
  }

  set(key: string, text: string): void {
    const sealed = sealText(this.#sealedFor(key), `${Date.now() + this.#ttl}\n${text}`);
    void this.#link.use("cache", (client) => client.set(this.#nameOf(key), sealed, "PX", this.#ttl));
  }

  #sealedFor(key: string) {
    return { secret: this.#secret, purpose: "cache value", context: `${this.#kind}:${key}` };
  }

  /** The name of a value in Redis, behind the prefix of all names. */
  #nameOf(key: string): string {
    return `${this.#kind}:${key}`;
  }
}
