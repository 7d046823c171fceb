import type { FastifyRequest } from "fastify";
import type { Side } from "../../scan/scanner.ts";
import type { Source } from "../../scan/source.ts";
import type { AdHocRecognizers } from "../../scanners/parts/ad-hoc-recognizers.ts";
import type { Rescan } from "../../service/service.ts";
import type { ScanRequest, ServiceReport } from "../../service/service-types.ts";
import type { CacheUse } from "../cache/result-cache.ts";
import type { Profile } from "../callers/profiles.ts";

/** The decision about the texts of a scan. It is published before the response is sent. */
export interface Decision {
  readonly request: FastifyRequest;
  readonly profile: Profile;
  readonly side: Side;
  readonly report: ServiceReport;
  /** The source of a single text or of documents. In other reports, the scopes of checks tell it. */
  readonly textSource?: Source | undefined;
  /** How the cache was used, if there is one. */
  readonly cache?: CacheUse | undefined;
  /** The recognizers that the request has added. */
  readonly recognizers?: AdHocRecognizers | undefined;
  /** The options of the client. */
  readonly options: Pick<ScanRequest, "suppress" | "offsets" | "rewrite">;
  /** Returns the scanned texts. */
  content(): Record<string, unknown>;
  /** Scans the same texts with another service. Absent for streams, whose text is not kept, and for requests with thresholds or recognizers. */
  readonly rescan?: Rescan;
}

/** An error of a listener replaces the response to the client. */
export type DecisionListener = (decision: Decision) => void | Promise<void>;

/** Passes all decisions, of all APIs, to metrics, the request log, the audit log and the shadow. */
export class Decisions {
  readonly #listeners: DecisionListener[] = [];

  /** Adds a listener. Listeners run in the order in which they were added. */
  listen(listener: DecisionListener): void {
    this.#listeners.push(listener);
  }

  /** Runs all listeners one after the other. The response waits for them. */
  async publish(decision: Decision): Promise<void> {
    for (const listener of this.#listeners) {
      const result = listener(decision);
      // Most listeners are synchronous, and awaiting them would cost a microtask each.
      if (result) await result;
    }
  }
}
