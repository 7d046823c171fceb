import type { KeyObject } from "node:crypto";
import type { RedisClient } from "../redis/redis-client.ts";
import type { RedisLink } from "../redis/redis-link.ts";
import { RecordSeal } from "../vault/record-seal.ts";
import { MAX_PENDING, type OpenedReview, type ReviewStore, type StoredReview } from "./review-store.ts";

/** The hash of all reviews, and the ids of pending and rejected ones by their expiry. The braces put all keys on one node of a cluster. */
const KEY = "{reviews}";
const PENDING = "{reviews}:pending";
const REJECTED = "{reviews}:rejected";

/** Keeps reviews in Redis, encrypted and authenticated. */
export class RedisReviews implements ReviewStore {
  readonly kind = "redis";
  readonly #link: RedisLink;
  readonly #seal: RecordSeal<StoredReview>;

  constructor(link: RedisLink, secret: KeyObject) {
    this.#link = link;
    this.#seal = new RecordSeal(secret, "review");
  }

  open(review: StoredReview): Promise<OpenedReview | undefined> {
    const { id, expires } = review;
    return this.#use(async (client) => {
      await forgetExpired(client);
      const isNew = (await client.hsetnx(KEY, id, this.#seal.seal(id, review))) === 1;
      if (!isNew) {
        const sealed = await client.hgetBuffer(KEY, id);
        const known = sealed && this.#seal.open(id, sealed);
        if (known) return { review: known, isNew: false, dropped: 0 };
        // Somebody else wrote the value, or the key has changed.
        await client.hset(KEY, id, this.#seal.seal(id, review));
      }
      await client.zadd(PENDING, Date.parse(expires), id);
      const surplus = (await client.zcard(PENDING)) - MAX_PENDING;
      const dropped = surplus > 0 ? (await client.zpopmin(PENDING, surplus)).filter((_, index) => index % 2 === 0) : [];
      if (dropped.length > 0) await client.hdel(KEY, ...dropped);
      return { review, isNew: true, dropped: dropped.length };
    });
  }

  list(): Promise<readonly StoredReview[] | undefined> {
    return this.#use(async (client) => {
      await forgetExpired(client);
      const all = Object.entries(await client.hgetallBuffer(KEY)).flatMap(
        ([id, sealed]) => this.#seal.open(id, sealed) ?? [],
      );
      return all.sort((one, other) => one.requested.localeCompare(other.requested));
    });
  }

  reject(review: StoredReview): Promise<true | undefined> {
    const { id, expires } = review;
    return this.#use(async (client) => {
      await client.hset(KEY, id, this.#seal.seal(id, review));
      await client.zadd(REJECTED, Date.parse(expires), id);
      await client.zrem(PENDING, id);
      return true as const;
    });
  }

  remove(id: string): Promise<true | undefined> {
    return this.#use(async (client) => {
      await client.hdel(KEY, id);
      await client.zrem(PENDING, id);
      await client.zrem(REJECTED, id);
      return true as const;
    });
  }

  count(): Promise<number | undefined> {
    return this.#use((client) => client.zcount(PENDING, Date.now(), "+inf"));
  }

  async #use<T>(send: (client: RedisClient) => Promise<T>): Promise<T | undefined> {
    return (await this.#link.use("reviews", KEY, send))?.value;
  }
}

async function forgetExpired(client: RedisClient): Promise<void> {
  const now = Date.now();
  for (const key of [PENDING, REJECTED]) {
    const ids = await client.zrangebyscore(key, "-inf", now);
    if (ids.length === 0) continue;
    await client.hdel(KEY, ...ids);
    await client.zrem(key, ...ids);
  }
}
