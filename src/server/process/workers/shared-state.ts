import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { AuditSettings, Rate } from "../../../config/index.ts";
import { type Count, MemoryCounters } from "../../../http-server/callers/counter.ts";
import { memoryStore, type PinStore, randomKey } from "../../../scanners/parts/tool-pins.ts";
import { KEY_BYTES } from "../../../support/secret-keys.ts";
import { AuditLogs, type UsedLog } from "../../decisions/audit.ts";
import type { Functions } from "./rpc-channel.ts";

/** The most pairs of an address and a credential that are remembered, as one process does. */
const MAX_KNOWN = 10_000;

/** The secrets that all workers have, in hexadecimal, for where the environment has none. */
export interface SharedKeys {
  vault: string;
  cache: string;
  texts: string;
  pins: string;
}

/** How a limit is asked for. */
export interface Taking {
  purpose: string;
  rate: Rate;
  key: string;
  amount: number;
  countsRefused: boolean;
}

/** What the first process of a server keeps for all workers: what would be too generous, or torn, if each kept its own. */
export class Shared {
  readonly #counters = new MemoryCounters();
  /** Credentials that were let in, with their addresses. */
  readonly #known = new LRUCache<string, true>({ max: MAX_KNOWN });
  readonly #audits = new AuditLogs();
  readonly #pins = new Map<string, PinStore>();
  readonly keys: SharedKeys = {
    vault: randomBytes(KEY_BYTES).toString("hex"),
    cache: randomBytes(KEY_BYTES).toString("hex"),
    texts: Buffer.from(this.#audits.randomKey).toString("hex"),
    pins: randomKey(),
  };

  /** What one worker may ask for. `leave` gives back all that it holds, and is called when it has ended. */
  forWorker(): { functions: Functions; leave(): void } {
    const running = new Map<string, number>();
    const logs = new Map<number, UsedLog>();
    let lastLog = 0;
    const leaveOne = (caller: string) => {
      const left = (running.get(caller) ?? 0) - 1;
      if (left < 0) return;
      if (left > 0) running.set(caller, left);
      else running.delete(caller);
      this.#counters.leave(caller);
    };
    const functions: Functions = {
      take: ({ purpose, rate, key, amount, countsRefused }: Taking): Count =>
        this.#counters.of(purpose, rate).takeNow(key, amount, countsRefused),
      enter: ({ caller, most }: { caller: string; most: number }) => {
        const isIn = this.#counters.enter(caller, most);
        if (isIn) running.set(caller, (running.get(caller) ?? 0) + 1);
        return isIn;
      },
      leave: leaveOne,
      attempt: ({ rates, address, pair }: { rates: Rate[]; address: string; pair?: string }) => {
        if (pair !== undefined && this.#known.get(pair)) return null;
        const count = this.#counters.attempt(rates, address, pair);
        if (!count && pair !== undefined) this.#known.set(pair, true);
        return count ?? null;
      },
      getPin: async ({ space, name }: { space: string; name: string }) => (await this.#pinsOf(space).get(name)) ?? null,
      setPin: async ({ space, name, pin }: { space: string; name: string; pin: string }) => {
        await this.#pinsOf(space).set(name, pin);
      },
      openAudit: async ({ settings, name }: { settings: AuditSettings; name: string }) => {
        const log = await this.#audits.use(settings, name, process.stdout);
        logs.set(++lastLog, log);
        return lastLog;
      },
      record: ({ id, record }: { id: number; record: object }) => logs.get(id)?.record(record),
      closeAudit: async (id: number) => {
        const log = logs.get(id);
        logs.delete(id);
        await log?.leave();
      },
    };
    const leave = () => {
      for (const [caller, count] of [...running]) for (let left = count; left > 0; left--) leaveOne(caller);
      for (const log of logs.values()) log.leave().catch(() => {});
      logs.clear();
    };
    return { functions, leave };
  }

  #pinsOf(space: string): PinStore {
    const store = this.#pins.get(space) ?? memoryStore();
    this.#pins.set(space, store);
    return store;
  }
}
