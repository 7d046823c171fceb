import type { KeyObject } from "node:crypto";
import type { Config } from "../../config/index.ts";
import type { RedisLinks } from "../redis-link.ts";
import { MemoryStore } from "./memory-store.ts";
import { RedisStore } from "./redis-store.ts";
import { ResultCache } from "./result-cache.ts";

/** What a server that caches results knows before it is built. */
export interface Caching {
  /** The section `cache` of the configuration. */
  settings: NonNullable<Config["cache"]>;
  /** Servers with the same secret can share results. */
  secret: KeyObject;
  /** What results depend on besides requests. It is asked for with the first request that is scanned. */
  fingerprint(): string;
}

/** Makes the cache of a server: in Redis where that is configured, else in memory. */
export async function makeResultCache(
  { settings, secret, fingerprint }: Caching,
  links: RedisLinks,
): Promise<ResultCache> {
  const link = await links.link(settings.redis);
  const store = link ? new RedisStore(link, { secret, ttl: settings.ttl }) : new MemoryStore(settings);
  return new ResultCache({ secret, fingerprint, store });
}
