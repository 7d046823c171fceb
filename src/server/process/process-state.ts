import { randomBytes, randomUUID } from "node:crypto";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { type Counters, MemoryCounters } from "../../http-server/callers/counter.ts";
import type { ToolPins } from "../../scanners/parts/tool-pins.ts";
import type { GuardError } from "../../support/errors.ts";
import { KEY_BYTES } from "../../support/secret-keys.ts";
import { type AuditLogProvider, AuditLogs } from "../decisions/audit.ts";
import { type ExceptionStore, MemoryExceptions } from "../exceptions/exception-store.ts";
import { MemoryReviews, type ReviewStore } from "../reviews/review-store.ts";
import { SharedTraffic } from "../traffic/shared-traffic.ts";
import { Traffic, type TrafficCounts } from "../traffic/traffic.ts";
import { randomVaultKey, type VaultKey } from "../vault/vault-seal.ts";
import { ServerMetrics } from "./server-metrics.ts";

/** State that all processes of a server share. With several processes the supervisor has it. */
export interface SharedState {
  /** Names the server among its instances. */
  readonly instanceId: string;
  /** The key of vaults if the environment has none. */
  readonly vaultKey: VaultKey;
  /** The key of the cache if the environment has none. */
  readonly cacheKey: Buffer;
  readonly counters: Counters;
  readonly auditLogs: AuditLogProvider;
  /** The key of the hashes of exact texts if the environment has none. */
  readonly exceptionsKey: Uint8Array;
  /** The exceptions that were added at run time, if nothing else keeps them. */
  readonly exceptions: ExceptionStore;
  /** The texts that wait for a review, if nothing else keeps them. */
  readonly reviews: ReviewStore;
  /** Returns the store of remembered tool pins of a profile. By default each scanner has its own. */
  readonly rememberedPins?: (profile: string) => ToolPins;
}

/**
 * State of a process that outlives a reload. Otherwise a reload would invalidate the vaults of callers, reset their limits and the
 * metrics, and break the chain of the audit log.
 */
export class ProcessState {
  readonly shared: SharedState;
  readonly metrics = new ServerMetrics();
  readonly traffic = new Traffic();
  readonly sharedTraffic: SharedTraffic;

  constructor(
    shared: SharedState = {
      instanceId: randomUUID(),
      vaultKey: randomVaultKey(),
      cacheKey: randomBytes(KEY_BYTES),
      counters: new MemoryCounters(),
      auditLogs: new AuditLogs(),
      exceptionsKey: randomBytes(KEY_BYTES),
      exceptions: new MemoryExceptions(),
      reviews: new MemoryReviews(),
    },
  ) {
    this.shared = shared;
    this.sharedTraffic = new SharedTraffic(this.traffic, shared.instanceId);
  }
}

/** All metrics of a process. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** All processes of a server, as one of them sees it. */
export interface WorkerPool {
  readonly size: number;
  /** Whether this process writes the log lines of the start, which are the same in all processes. */
  readonly isLeader: boolean;
  metrics(): Promise<ProcessMetrics[]>;
  /** Returns the reason why a process accepts no scans now. */
  notReady(): Promise<GuardError | undefined>;
  /** Returns the `Shadow.summary` of each process. */
  shadows(caller: string | undefined): Promise<Record<string, unknown>[]>;
  /** Makes all processes read the exceptions of the run time again. */
  refreshExceptions(): Promise<void>;
  /** Returns the `Traffic.counts` of each process. */
  traffic(minutes: number, credentialId: string | undefined): Promise<TrafficCounts[]>;
}

/** What a server gets from its supervisor if it is one of several processes. */
export interface WorkerContext {
  shared: SharedState;
  pool: WorkerPool;
  /** Whether the process replaces one that has ended. It listens only when its models are loaded, because others serve meanwhile. */
  isReplacement: boolean;
  /** Reloads all processes; see {@link ServerContext.reload}. */
  reload(): Promise<string>;
  /** See `ReloadOptions.approve`. */
  approve(hash: string): Promise<void>;
  onClosed(): void;
}

/** Where a server runs. */
export interface ServerContext {
  state: ProcessState;
  /** Present if there are several processes. */
  pool?: WorkerPool | undefined;
  /** Whether another server serves until this one is loaded. */
  isReload?: boolean;
  /** Whether other machines reach the server. Default: as the address in the configuration implies. */
  isPublic?: boolean;
  /**
   * Reloads the configuration; see `Reloads.reload`. Without it the server has no route for reloads.
   *
   * @returns the hash of the new configuration.
   */
  reload?: () => Promise<string>;
}
