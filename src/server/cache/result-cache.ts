import { createHmac, type KeyObject } from "node:crypto";
import { Vault } from "../../scan/vault.ts";
import type { ServiceDocument, ServiceReport } from "../../service/service-types.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import { derived, KEY_BYTES } from "../../support/secret-keys.ts";
import { Flights } from "./flights.ts";

/**
 * What the cache had to do with a scan: its result was in the cache (`hit`); another request was computing it and shared it
 * (`shared`); it was computed (`miss`); or the request is of a kind that is never cached (`skipped`).
 */
export const CACHE_USES = ["hit", "shared", "miss", "skipped"] as const;
export type CacheUse = (typeof CACHE_USES)[number];

/** A request as far as its result depends on it. */
export interface CacheRequest {
  /** Who asks: the id of the credential. Absent without authentication. */
  caller: string | undefined;
  /** What is scanned and how, such as `analyze a prompt`. */
  kind: string;
  /** The name of the profile that judges it. */
  profile: string;
  /** The whole body, so that no field of it can be forgotten. */
  body: unknown;
  /** Whether the answer will have findings, probabilities, timing and coverage. */
  details: boolean;
  /** Whether the answer will have the sanitized text. */
  rewrite: boolean;
}

/** A report, with the vault that the scan filled. */
export interface Scanned {
  report: ServiceReport;
  vault: Vault;
}

/** Where results are kept, as texts. */
export interface CacheStore {
  /** The text that was kept under a key, if it is still there. It never rejects. */
  get(key: string): Promise<string | undefined>;
  /** Keeps a text. Nobody waits for that. */
  set(key: string, text: string): void;
}

/** Of what a cache is made. */
export interface ResultCacheOptions {
  /** Caches with the same secret and the same store share their entries. */
  secret: KeyObject;
  /** What the results depend on besides requests; see `fingerprintOf`. It is asked for with the first request. */
  fingerprint(): string;
  store: CacheStore;
}

/** Results that are longer are not kept, in characters of JSON. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Keeps the results of whole scans. The key of a result is a keyed hash (HMAC-SHA-256, RFC 2104) of everything that the result
 * depends on: the body, what is done with it, the credential, the configuration and the version of guard and of the models. So
 * nobody can tell from a key which text it stands for, and callers with different credentials share nothing.
 *
 * What is never kept: a result with a vault, a scan in which a scanner threw, and one that ended with an error.
 */
export class ResultCache {
  readonly #hashKey: Buffer;
  readonly #askFingerprint: () => string;
  readonly #store: CacheStore;
  readonly #flights = new Flights<Scanned & { isHit: boolean }>();
  #fingerprint: string | undefined;

  constructor({ secret, fingerprint, store }: ResultCacheOptions) {
    this.#hashKey = derived(secret, "", "cache key", KEY_BYTES);
    this.#askFingerprint = fingerprint;
    this.#store = store;
  }

  /**
   * The result of a scan: from the cache, from the same scan of another request that is under way, or computed.
   *
   * @param signal aborted when this caller does not wait any more. A scan goes on as long as somebody waits for it.
   * @param compute scans.
   */
  async scan(
    request: CacheRequest,
    signal: AbortSignal,
    compute: (signal: AbortSignal) => Promise<Scanned>,
  ): Promise<Scanned & { use: CacheUse }> {
    const key = this.#keyOf(request);
    const { result, isJoined } = this.#flights.join(key, signal, async (running) => {
      const kept = await this.#store.get(key);
      if (kept !== undefined) return { ...restored(kept), isHit: true };
      running.throwIfAborted();
      const scanned = await compute(running);
      if (isCacheable(scanned)) {
        const text = JSON.stringify(shown(scanned.report, request));
        if (text.length <= MAX_LENGTH) this.#store.set(key, text);
      }
      return { ...scanned, isHit: false };
    });
    const { isHit, ...scanned } = await awaitUnlessAborted(result, signal);
    return { ...scanned, use: isHit ? "hit" : isJoined ? "shared" : "miss" };
  }

  #keyOf({ caller, kind, profile, body }: CacheRequest): string {
    this.#fingerprint ??= this.#askFingerprint();
    const text = JSON.stringify([this.#fingerprint, caller ?? null, kind, profile, body]);
    return createHmac("sha256", this.#hashKey).update(text).digest("base64url");
  }
}

/** Whether the same request would have the same result again, with nothing in it that belongs to one caller only. */
function isCacheable({ report, vault }: Scanned): boolean {
  const failed = [report, ...(report.documents ?? []).flatMap(({ masked }) => masked ?? [])].some(
    ({ coverage }) => coverage.failed.length > 0,
  );
  return vault.size === 0 && !failed;
}

/** A report without what the answer will not have: texts that nobody asks for are not kept. */
function shown(report: ServiceReport, { details, rewrite }: CacheRequest): ServiceReport {
  const { text, engineTiming, documents, ...rest } = report;
  return {
    ...(details ? rest : withoutDetails(rest)),
    text: rewrite ? text : "",
    engineTiming: details ? engineTiming : {},
    ...(documents ? { documents: details ? documents : documents.map((document) => withoutDetails(document)) } : {}),
  };
}

function withoutDetails<Report extends Pick<ServiceDocument, "findings" | "probabilities" | "timing">>(
  report: Report,
): Report {
  return { ...report, findings: {}, probabilities: {}, timing: {} };
}

function restored(text: string): Scanned {
  return { report: JSON.parse(text), vault: new Vault() };
}
