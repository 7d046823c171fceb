import type { AuditSettings, Rate } from "../../../config/index.ts";
import type { Count, Counter, Counters } from "../../../http-server/callers/counter.ts";
import type { ToolPins } from "../../../scanners/parts/tool-pins.ts";
import type { AuditPlaces, UsedLog } from "../../decisions/audit.ts";
import { vaultKey } from "../../vault/vault-seal.ts";
import type { Kept } from "../process-state.ts";
import type { Calls } from "./rpc-channel.ts";
import type { SharedKeys, Taking } from "./shared-state.ts";

/** What the first process keeps for a worker, as the worker sees it. */
export function keptElsewhere(calls: Calls, keys: SharedKeys): Kept {
  return {
    vaultKey: vaultKey(Buffer.from(keys.vault, "hex")),
    cacheKey: Buffer.from(keys.cache, "hex"),
    counters: new RemoteCounters(calls),
    auditLogs: new RemoteAudits(calls, Buffer.from(keys.texts, "hex")),
    rememberedPins: (profile) => remotePins(calls, profile, keys.pins),
  };
}

class RemoteCounters implements Counters {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  of(purpose: string, rate: Rate): Counter {
    return {
      rate,
      take: (key, amount, countsRefused) => {
        const taking: Taking = { purpose, rate, key, amount, countsRefused };
        return this.#calls.call<Count>("take", taking);
      },
    };
  }

  enter(caller: string, most: number): Promise<boolean> {
    return this.#calls.call("enter", { caller, most });
  }

  leave(caller: string): void {
    // When the first process is gone, nobody counts any more.
    this.#calls.call("leave", caller).catch(() => {});
  }

  async attempt(rates: readonly Rate[], address: string, pair: string | undefined): Promise<Count | undefined> {
    return (await this.#calls.call<Count | null>("attempt", { rates, address, pair })) ?? undefined;
  }
}

class RemoteAudits implements AuditPlaces {
  readonly randomKey: Uint8Array;
  readonly #calls: Calls;

  constructor(calls: Calls, randomKey: Uint8Array) {
    this.#calls = calls;
    this.randomKey = randomKey;
  }

  async use(settings: AuditSettings, name: string): Promise<UsedLog> {
    const id = await this.#calls.call<number>("openAudit", { settings, name });
    return {
      record: (record) => this.#calls.call("record", { id, record }),
      leave: () => this.#calls.call("closeAudit", id),
    };
  }
}

function remotePins(calls: Calls, space: string, key: string): ToolPins {
  return {
    key,
    store: {
      get: async (name) => (await calls.call<string | null>("getPin", { space, name })) ?? undefined,
      set: (name, pin) => calls.call("setPin", { space, name, pin }),
    },
  };
}
