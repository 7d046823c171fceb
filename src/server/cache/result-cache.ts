import { createHmac, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isInReview } from "../../scan/check-result.ts";
import { Vault } from "../../scan/vault.ts";
import type { ServiceDocument, ServiceReport } from "../../service/service-types.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import { deriveKey, KEY_BYTES } from "../../support/secret-keys.ts";
import { SingleFlight } from "./single-flight.ts";

/**
 * How the cache was used: the result was in the cache (`hit`), another request in progress computed it (`shared`), it was computed
 * (`miss`), or it cannot be cached (`skipped`).
 */
export const CACHE_USES = ["hit", "shared", "miss", "skipped"] as const;
export type CacheUse = (typeof CACHE_USES)[number];

/** What the result of a request depends on. */
export interface CacheRequest {
  /** The id of the credential. Absent without authentication. */
  caller: string | undefined;
  /** The operation, such as `analyze a prompt`. */
  kind: string;
  profile: string;
  /** The whole body, so that no field is missed. */
  body: unknown;
  /** Whether the response has findings, probabilities, timing and coverage. */
  details: boolean;
  /** Whether the response has the sanitized text. */
  rewrite: boolean;
  /** Returns what identifies the exceptions that work now; see `Exceptions.state`. */
  exceptions(): { digest: string; changes: number };
}

/** A report, with the vault that the scan has filled. */
export interface ScanResult {
  report: ServiceReport;
  vault: Vault;
}

export interface CacheStore {
  /** Returns the text of a key. It never rejects. */
  get(key: string): Promise<string | undefined>;
  /** Stores a text, in the background. */
  set(key: string, text: string): void;
}

export interface ResultCacheOptions {
  /** Caches with the same secret and the same store share their entries. */
  secret: KeyObject;
  /** Returns what results depend on besides requests; see `fingerprintOf`. Called with the first request. */
  fingerprint(): string;
  store: CacheStore;
}

/** Longer results are not cached, in characters of JSON. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Caches the results of whole scans. The key is a keyed hash (HMAC-SHA-256, RFC 2104) of everything that the result depends on: body,
 * operation, credential, configuration, and the versions of guard and its models. A key reveals nothing of the text, and callers with
 * different credentials share nothing.
 *
 * Results with a vault, with a failed scanner, with a text in review, and errors are never cached.
 */
export class ResultCache {
  readonly #hashKey: Buffer;
  readonly #readFingerprint: () => string;
  readonly #store: CacheStore;
  readonly #scans = new SingleFlight<ScanResult & { isHit: boolean }>();
  #fingerprint: string | undefined;

  constructor({ secret, fingerprint, store }: ResultCacheOptions) {
    this.#hashKey = deriveKey(secret, "", "cache key", KEY_BYTES);
    this.#readFingerprint = fingerprint;
    this.#store = store;
  }

  /**
   * Returns the result of a scan: from the cache, from the same scan in progress, or computed.
   *
   * @param signal aborted when this caller no longer waits. A scan continues while any caller waits for it.
   */
  async scan(
    request: CacheRequest,
    signal: AbortSignal,
    compute: (signal: AbortSignal) => Promise<ScanResult>,
  ): Promise<ScanResult & { use: CacheUse }> {
    const exceptions = request.exceptions();
    const key = this.#keyOf(request, exceptions.digest);
    // A scan that started before a change of exceptions is not joined after it, even if the change was undone.
    const { result, isJoined } = this.#scans.join(`${exceptions.changes} ${key}`, signal, async (running) => {
      const cached = await this.#store.get(key);
      if (cached !== undefined) return { ...deserialize(cached), isHit: true };
      running.throwIfAborted();
      const scanned = await compute(running);
      if (isCacheable(scanned) && isDeepStrictEqual(request.exceptions(), exceptions)) {
        const text = JSON.stringify(neededPart(scanned.report, request));
        if (text.length <= MAX_LENGTH) this.#store.set(key, text);
      }
      return { ...scanned, isHit: false };
    });
    const { isHit, ...scanned } = await awaitUnlessAborted(result, signal);
    return { ...scanned, use: isHit ? "hit" : isJoined ? "shared" : "miss" };
  }

  #keyOf({ caller, kind, profile, body }: CacheRequest, exceptions: string): string {
    this.#fingerprint ??= this.#readFingerprint();
    const text = JSON.stringify([this.#fingerprint, exceptions, caller ?? null, kind, profile, body]);
    return createHmac("sha256", this.#hashKey).update(text).digest("base64url");
  }
}

/** Returns whether a repeated request would have the same result. */
function isCacheable({ report, vault }: ScanResult): boolean {
  const failed = [report, ...(report.documents ?? []).flatMap(({ masked }) => masked ?? [])].some(
    ({ coverage }) => coverage.failed.length > 0,
  );
  // A person may decide about a text at any time.
  return vault.size === 0 && !failed && !report.checks.some(isInReview);
}

/** Returns the part of a report that the response has. Other texts are not stored. */
function neededPart(report: ServiceReport, { details, rewrite }: CacheRequest): ServiceReport {
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

function deserialize(text: string): ScanResult {
  return { report: JSON.parse(text), vault: new Vault() };
}
