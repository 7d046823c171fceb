import { LRUCache } from "lru-cache";
import type { CacheStore } from "./result-cache.ts";

const MAX_BYTES = 64 * 1024 * 1024;
/** Estimated size of an entry without its text. */
const ENTRY_BYTES = 300;

/** Stores results in this process. It evicts the least recently used ones. */
export class MemoryStore implements CacheStore {
  readonly #entries: LRUCache<string, string>;

  /** @param limits `maxSize` is a number of entries, besides the limit of {@link MAX_BYTES}. */
  constructor({ ttlMs, maxSize }: { ttlMs: number; maxSize?: number | null | undefined }) {
    this.#entries = new LRUCache({
      ...(maxSize ? { max: maxSize } : {}),
      maxSize: MAX_BYTES,
      // A character takes at most two bytes.
      sizeCalculation: (text) => 2 * text.length + ENTRY_BYTES,
      ttl: Math.ceil(ttlMs),
      // By default the clock is cached for a millisecond, or longer while the event loop is blocked.
      ttlResolution: 0,
    });
  }

  async get(key: string): Promise<string | undefined> {
    return this.#entries.get(key);
  }

  set(key: string, text: string): void {
    this.#entries.set(key, text);
  }
}
