import type { KeyObject } from "node:crypto";
import type { Config } from "../../config/index.ts";
import type { RedisLinks } from "../redis/redis-link.ts";
import { MemoryStore } from "./memory-store.ts";
import { RedisStore } from "./redis-store.ts";
import { ResultCache } from "./result-cache.ts";
import type { RedisVerdicts } from "./shared-verdicts.ts";

/** What a server that caches results knows before it is built. */
export interface Caching {
  /** The section `cache` of the configuration. */
  settings: NonNullable<Config["cache"]>;
  /** Servers with the same secret can share results. */
  secret: KeyObject;
  /** What results depend on besides requests. It is asked for with the first request that is scanned. */
  fingerprint(): string;
  /** The verdicts of conversations that servers share, where results are kept in Redis. */
  verdicts: readonly RedisVerdicts[];
}

/** Makes the cache of a server: in Redis where that is configured, else in memory. */
export async function makeResultCache(
  { settings, secret, fingerprint, verdicts }: Caching,
  links: RedisLinks,
): Promise<ResultCache> {
  const link = await links.link(settings.redis);
  if (link) {
    const kept = new RedisStore(link, { secret, ttl: settings.ttl }, "verdict");
    for (const shared of verdicts) shared.connect(kept);
  }
  const store = link ? new RedisStore(link, { secret, ttl: settings.ttl }) : new MemoryStore(settings);
  return new ResultCache({ secret, fingerprint, store });
}
