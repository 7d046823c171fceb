import { randomBytes } from "node:crypto";
import { KEY_BYTES } from "../support/secret-keys.ts";
import { AuditLogs } from "./audit/make-audit.ts";
import { MemoryCounters } from "./limits/counter.ts";
import { Metrics } from "./plugins/app/metrics.ts";
import { randomVaultKey } from "./vault-seal.ts";

/**
 * What a process keeps while its configuration is reloaded: without it, a reload would void the vaults that callers hold, give every
 * caller a new limit, break the chain of the audit log, and begin to count anew.
 */
export class Lasting {
  /** The key of vaults where the environment has none. */
  readonly vaultKey = randomVaultKey();
  /** The key of the cache where the environment has none. */
  readonly cacheKey = randomBytes(KEY_BYTES);
  readonly metrics = new Metrics();
  readonly counters = new MemoryCounters();
  readonly auditLogs = new AuditLogs();
}

/** In what a server runs. */
export interface Host {
  lasting: Lasting;
  /** Whether another server answers until this one is loaded. */
  isReload?: boolean;
  /** Whether others than this machine reach it. By default the address in the configuration tells. */
  isPublic?: boolean;
  /**
   * Reads the configuration anew; see `Reloads.reload`. Without it the server has no route for that.
   *
   * @returns the hash of the configuration that is served now.
   */
  reload?: () => Promise<string>;
}
