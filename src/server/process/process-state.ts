import { randomBytes } from "node:crypto";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { type Counters, MemoryCounters } from "../../http-server/callers/counter.ts";
import type { ToolPins } from "../../scanners/parts/tool-pins.ts";
import type { GuardError } from "../../support/errors.ts";
import { KEY_BYTES } from "../../support/secret-keys.ts";
import { AuditLogs, type AuditPlaces } from "../decisions/audit.ts";
import { randomVaultKey, type VaultKey } from "../vault/vault-seal.ts";
import { ServerMetrics } from "./server-metrics.ts";

/** What all processes of a server have in common. A process that serves alone keeps it itself. */
export interface Kept {
  /** The key of vaults where the environment has none. */
  readonly vaultKey: VaultKey;
  /** The key of the cache where the environment has none. */
  readonly cacheKey: Buffer;
  readonly counters: Counters;
  readonly auditLogs: AuditPlaces;
  /** Where the scanners of a profile remember pins of tools. Without it each of them does so for itself. */
  readonly rememberedPins?: (profile: string) => ToolPins;
}

/**
 * What a process keeps while its configuration is reloaded: without it, a reload would void the vaults that callers hold, give every
 * caller a new limit, break the chain of the audit log, and begin to count anew.
 */
export class Lasting {
  readonly kept: Kept;
  readonly metrics = new ServerMetrics();

  /** @param kept what other processes have too. */
  constructor(
    kept: Kept = {
      vaultKey: randomVaultKey(),
      cacheKey: randomBytes(KEY_BYTES),
      counters: new MemoryCounters(),
      auditLogs: new AuditLogs(),
    },
  ) {
    this.kept = kept;
  }
}

/** All metrics of a process. */
export type MetricsOfOne = MetricObjectWithValues<MetricValue<string>>[];

/** What a process asks of all processes of its server, itself among them. */
export interface Together {
  /** How many there are. */
  readonly workers: number;
  /** Whether this process writes the log lines of the start that are the same for all. */
  readonly speaks: boolean;
  metrics(): Promise<MetricsOfOne[]>;
  /** The reason why one of them takes no scans now. */
  notReady(): Promise<GuardError | undefined>;
  /** What the shadow of each has found; see `Shadow.summary`. */
  shadows(caller: string | undefined): Promise<Record<string, unknown>[]>;
}

/** What is different for a server that is one of several processes. */
export interface Inside {
  kept: Kept;
  together: Together;
  /** Whether it listens when its models are loaded, and not before: others answer until then. */
  isLate: boolean;
  /** Has all processes reload; see {@link Host.reload}. */
  reload(): Promise<string>;
  /** Is asked before a configuration that was loaded is served; see `ReloadOptions.agree`. */
  agree(hash: string): Promise<void>;
  /** Is called when the server has closed. */
  onClosed(): void;
}

/** In what a server runs. */
export interface Host {
  lasting: Lasting;
  /** The processes that serve together, where there are several. */
  together?: Together | undefined;
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
