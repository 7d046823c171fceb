import { LRUCache } from "lru-cache";
import type { CacheStore } from "./result-cache.ts";

/** The most bytes that all results in memory take together. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What an entry takes besides its text: its key and its places in the cache, estimated. */
const ENTRY_BYTES = 300;

/** Keeps results in this process. What was not used for longest goes first. */
export class MemoryStore implements CacheStore {
  readonly #entries: LRUCache<string, string>;

  /**
   * @param limits `ttl` in seconds; `maxSize` is the most entries, without it only their size counts.
   */
  constructor({ ttl, maxSize }: { ttl: number; maxSize?: number | null | undefined }) {
    this.#entries = new LRUCache({
      ...(maxSize ? { max: maxSize } : {}),
      maxSize: MAX_BYTES,
      // Each character takes two bytes at most.
      sizeCalculation: (text) => 2 * text.length + ENTRY_BYTES,
      ttl: Math.ceil(ttl * 1000),
      // The clock is asked each time, so that no result outlives its time while the process is busy.
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
