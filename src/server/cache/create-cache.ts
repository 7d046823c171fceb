import type { KeyObject } from "node:crypto";
import type { Config } from "../../config/index.ts";
import type { RedisLinks } from "../redis/redis-link.ts";
import { MemoryStore } from "./memory-store.ts";
import { RedisStore } from "./redis-store.ts";
import type { RedisVerdicts } from "./redis-verdicts.ts";
import { ResultCache } from "./result-cache.ts";

export interface CacheOptions {
  settings: NonNullable<Config["cache"]>;
  /** Servers with the same secret can share results. */
  secret: KeyObject;
  /** Returns what results depend on besides requests. Called with the first request. */
  fingerprint(): string;
  /** The verdicts of conversations to share through Redis. */
  verdicts: readonly RedisVerdicts[];
}

/** Creates the cache of a server, in Redis if configured, otherwise in memory. */
export async function createResultCache(
  { settings, secret, fingerprint, verdicts }: CacheOptions,
  links: RedisLinks,
): Promise<ResultCache> {
  const ttlMs = settings.ttl * 1000;
  const link = await links.link("cache", settings.redis);
  if (link) {
    const verdictStore = new RedisStore(link, { secret, ttlMs }, "verdict");
    for (const shared of verdicts) shared.connect(verdictStore);
  }
  const store = link ? new RedisStore(link, { secret, ttlMs }) : new MemoryStore({ ttlMs, maxSize: settings.maxSize });
  return new ResultCache({ secret, fingerprint, store });
}
