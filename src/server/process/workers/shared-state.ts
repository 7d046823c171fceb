import { randomBytes, randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { AuditSettings, Rate } from "../../../config/index.ts";
import { type LimitStatus, MemoryCounters } from "../../../http-server/callers/counter.ts";
import { memoryStore, type PinStore, randomKey } from "../../../scanners/parts/tool-pins.ts";
import { KEY_BYTES } from "../../../support/secret-keys.ts";
import { type AuditLogHandle, AuditLogs } from "../../decisions/audit.ts";
import { MemoryExceptions, type StoredException } from "../../exceptions/exception-store.ts";
import { MemoryReviews, type StoredReview } from "../../reviews/review-store.ts";
import type { RpcMethods } from "./rpc-channel.ts";

/** How many pairs of a credential and an address are remembered, as in a single process. */
const MAX_KNOWN_PAIRS = 10_000;

/** Secrets of all workers in hexadecimal, for those that the environment does not set, and the id of the server. */
export interface SharedKeys {
  instanceId: string;
  vault: string;
  cache: string;
  texts: string;
  pins: string;
  exceptions: string;
}

/** The arguments of `take`. */
export interface TakeArguments {
  purpose: string;
  rate: Rate;
  key: string;
  amount: number;
  countsRefused: boolean;
}

/** The state that the supervisor has for all workers, such as limits, which would multiply if each worker had its own. */
export class SharedStateOwner {
  readonly #counters = new MemoryCounters();
  /** Credentials that were accepted, with their addresses. */
  readonly #knownPairs = new LRUCache<string, true>({ max: MAX_KNOWN_PAIRS });
  readonly #auditLogs = new AuditLogs();
  readonly #pins = new Map<string, PinStore>();
  readonly #exceptions = new MemoryExceptions();
  readonly #reviews = new MemoryReviews();
  readonly keys: SharedKeys = {
    instanceId: randomUUID(),
    vault: randomBytes(KEY_BYTES).toString("hex"),
    cache: randomBytes(KEY_BYTES).toString("hex"),
    texts: Buffer.from(this.#auditLogs.randomKey).toString("hex"),
    pins: randomKey(),
    exceptions: randomBytes(KEY_BYTES).toString("hex"),
  };

  /**
   * Returns the methods of one worker.
   *
   * @returns `release` frees everything that the worker holds. Call it when the worker has ended.
   */
  forWorker(): { methods: RpcMethods; release(): void } {
    const limits = this.#limitMethods();
    const audit = this.#auditMethods();
    return {
      methods: {
        ...limits.methods,
        ...audit.methods,
        ...this.#pinMethods(),
        ...this.#exceptionMethods(),
        ...this.#reviewMethods(),
      },
      release() {
        limits.release();
        audit.release();
      },
    };
  }

  #limitMethods() {
    /** Requests in progress of this worker by caller. */
    const running = new Map<string, number>();
    const leave = (caller: string) => {
      const left = (running.get(caller) ?? 0) - 1;
      if (left < 0) return;
      if (left > 0) running.set(caller, left);
      else running.delete(caller);
      this.#counters.leave(caller);
    };
    const methods: RpcMethods = {
      take: ({ purpose, rate, key, amount, countsRefused }: TakeArguments): LimitStatus =>
        this.#counters.of(purpose, rate).takeNow(key, amount, countsRefused),
      enter: ({ caller, maxConcurrent }: { caller: string; maxConcurrent: number }) => {
        const isAdmitted = this.#counters.enter(caller, maxConcurrent);
        if (isAdmitted) running.set(caller, (running.get(caller) ?? 0) + 1);
        return isAdmitted;
      },
      leave,
      attempt: ({ rates, address, pair }: { rates: Rate[]; address: string; pair?: string }) => {
        if (pair !== undefined && this.#knownPairs.get(pair)) return null;
        const exceeded = this.#counters.attempt(rates, address, pair);
        if (!exceeded && pair !== undefined) this.#knownPairs.set(pair, true);
        return exceeded ?? null;
      },
    };
    const release = () => {
      for (const [caller, count] of [...running]) for (let left = count; left > 0; left--) leave(caller);
    };
    return { methods, release };
  }

  #auditMethods() {
    const logs = new Map<number, AuditLogHandle>();
    let lastId = 0;
    const methods: RpcMethods = {
      openAudit: async ({ settings, serviceName }: { settings: AuditSettings; serviceName: string }) => {
        const log = await this.#auditLogs.open(settings, serviceName, process.stdout);
        logs.set(++lastId, log);
        return lastId;
      },
      record: ({ id, record }: { id: number; record: object }) => logs.get(id)?.record(record),
      closeAudit: async (id: number) => {
        const log = logs.get(id);
        logs.delete(id);
        await log?.release();
      },
    };
    const release = () => {
      for (const log of logs.values()) log.release().catch(() => {});
      logs.clear();
    };
    return { methods, release };
  }

  #exceptionMethods(): RpcMethods {
    return {
      listExceptions: () => this.#exceptions.list(),
      putException: (exception: StoredException) => this.#exceptions.put(exception),
      removeException: (id: string) => this.#exceptions.remove(id),
    };
  }

  #reviewMethods(): RpcMethods {
    return {
      openReview: (review: StoredReview) => this.#reviews.open(review),
      listReviews: () => this.#reviews.list(),
      rejectReview: (review: StoredReview) => this.#reviews.reject(review),
      removeReview: (id: string) => this.#reviews.remove(id),
      countReviews: () => this.#reviews.count(),
    };
  }

  #pinMethods(): RpcMethods {
    const storeOf = (space: string): PinStore => {
      const store = this.#pins.get(space) ?? memoryStore();
      this.#pins.set(space, store);
      return store;
    };
    return {
      getPin: async ({ space, name }: { space: string; name: string }) => (await storeOf(space).get(name)) ?? null,
      setPin: async ({ space, name, pin }: { space: string; name: string; pin: string }) => {
        await storeOf(space).set(name, pin);
      },
    };
  }
}
