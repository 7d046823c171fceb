import type { FastifyRequest } from "fastify";
import type { Side } from "../../scan/scanner.ts";
import type { Rescan } from "../../service/service.ts";
import type { ScanRequest, ServiceReport } from "../../service/service-types.ts";
import type { CacheUse } from "../cache/result-cache.ts";
import type { Profile } from "../callers/profiles.ts";

/** What the server decided about the texts of a scan, before the client is told. */
export interface Decision {
  readonly request: FastifyRequest;
  /** Whose scanners decided. */
  readonly profile: Profile;
  readonly side: Side;
  readonly report: ServiceReport;
  /** What the cache had to do with it, where there is one. */
  readonly cache?: CacheUse | undefined;
  /** What the client asked for. */
  readonly asked: Pick<ScanRequest, "suppress" | "offsets" | "rewrite">;
  /** The texts that were judged, for those who may keep them, or something of them. */
  content(): Record<string, unknown>;
  /**
   * Judges the same texts with the scanners of another service. It is absent for a stream, whose text nobody kept, and for a request with
   * thresholds of its own.
   */
  readonly again?: Rescan;
}

/** Is told of a decision. What it throws, or rejects with, is the answer to the client in place of the decision. */
export type DecisionListener = (decision: Decision) => void | Promise<void>;

/**
 * The one place where routes tell what was decided, whatever API the client speaks: metrics, the log of requests and whoever else keeps
 * record of decisions listen to it.
 */
export class Decisions {
  readonly #listeners: DecisionListener[] = [];

  /** Adds a listener. Listeners are told in the order in which they were added. */
  listen(listener: DecisionListener): void {
    this.#listeners.push(listener);
  }

  /** Tells all listeners, one after the other. The client gets its answer when all of them have returned. */
  async tell(decision: Decision): Promise<void> {
    for (const listener of this.#listeners) {
      const told = listener(decision);
      // Most listeners only count something: awaiting them would cost a turn of the event loop each.
      if (told) await told;
    }
  }
}
