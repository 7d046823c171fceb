import type { AuditSettings, Rate } from "../../../config/index.ts";
import type { Counters, LimitStatus, RateCounter } from "../../../http-server/callers/counter.ts";
import type { ToolPins } from "../../../scanners/parts/tool-pins.ts";
import type { AuditLogHandle, AuditLogProvider } from "../../decisions/audit.ts";
import { vaultKey } from "../../vault/vault-seal.ts";
import type { SharedState } from "../process-state.ts";
import type { RpcChannel } from "./rpc-channel.ts";
import type { SharedKeys, TakeArguments } from "./shared-state.ts";

/** Returns the shared state of the supervisor, as a worker uses it. */
export function remoteSharedState(supervisor: RpcChannel, keys: SharedKeys): SharedState {
  return {
    instanceId: keys.instanceId,
    vaultKey: vaultKey(Buffer.from(keys.vault, "hex")),
    cacheKey: Buffer.from(keys.cache, "hex"),
    counters: new RemoteCounters(supervisor),
    auditLogs: new RemoteAuditLogs(supervisor, Buffer.from(keys.texts, "hex")),
    exceptionsKey: Buffer.from(keys.exceptions, "hex"),
    exceptions: {
      kind: "memory",
      list: () => supervisor.call("listExceptions"),
      put: (exception) => supervisor.call("putException", exception),
      remove: (id) => supervisor.call("removeException", id),
    },
    reviews: {
      kind: "memory",
      open: (review) => supervisor.call("openReview", review),
      list: () => supervisor.call("listReviews"),
      reject: (review) => supervisor.call("rejectReview", review),
      remove: (id) => supervisor.call("removeReview", id),
      count: () => supervisor.call("countReviews"),
    },
    rememberedPins: (profile) => remotePins(supervisor, profile, keys.pins),
  };
}

class RemoteCounters implements Counters {
  readonly #supervisor: RpcChannel;

  constructor(supervisor: RpcChannel) {
    this.#supervisor = supervisor;
  }

  of(purpose: string, rate: Rate): RateCounter {
    return {
      rate,
      take: (key, amount, countsRefused) => {
        const take: TakeArguments = { purpose, rate, key, amount, countsRefused };
        return this.#supervisor.call<LimitStatus>("take", take);
      },
    };
  }

  enter(caller: string, maxConcurrent: number): Promise<boolean> {
    return this.#supervisor.call("enter", { caller, maxConcurrent });
  }

  leave(caller: string): void {
    // Without a supervisor nothing is counted any more.
    this.#supervisor.call("leave", caller).catch(() => {});
  }

  async attempt(rates: readonly Rate[], address: string, pair: string | undefined): Promise<LimitStatus | undefined> {
    return (await this.#supervisor.call<LimitStatus | null>("attempt", { rates, address, pair })) ?? undefined;
  }
}

class RemoteAuditLogs implements AuditLogProvider {
  readonly randomKey: Uint8Array;
  readonly #supervisor: RpcChannel;

  constructor(supervisor: RpcChannel, randomKey: Uint8Array) {
    this.#supervisor = supervisor;
    this.randomKey = randomKey;
  }

  async open(settings: AuditSettings, serviceName: string): Promise<AuditLogHandle> {
    const id = await this.#supervisor.call<number>("openAudit", { settings, serviceName });
    return {
      record: (record) => this.#supervisor.call("record", { id, record }),
      release: () => this.#supervisor.call("closeAudit", id),
    };
  }
}

function remotePins(supervisor: RpcChannel, space: string, key: string): ToolPins {
  return {
    key,
    store: {
      get: async (name) => (await supervisor.call<string | null>("getPin", { space, name })) ?? undefined,
      set: (name, pin) => supervisor.call("setPin", { space, name, pin }),
    },
  };
}
