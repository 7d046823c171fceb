import { createHash } from "node:crypto";
import type { Scanner } from "../../scan/scanner.ts";
import { takesRecognizers } from "../../scanners/add-recognizers.ts";
import { type AdHocRecognizer, AdHocRecognizers } from "../../scanners/parts/ad-hoc-recognizers.ts";

/** The maximum number of compiled sets. A set has at most 8 MiB of compiled patterns. */
const MAX_SETS = 16;

/** Compiled recognizers of requests, and the scanners that use them. */
export class RecognizerSet {
  readonly recognizers: AdHocRecognizers;
  readonly #scanners = new WeakMap<Scanner, Scanner>();

  constructor(given: readonly AdHocRecognizer[]) {
    this.recognizers = new AdHocRecognizers(given);
  }

  /** Returns a scanner with the recognizers, the same one for each call. Undefined if the scanner does not look for personal data. */
  addTo(scanner: Scanner): Scanner | undefined {
    if (!takesRecognizers(scanner)) return undefined;
    const known = this.#scanners.get(scanner) ?? scanner.withRecognizers(this.recognizers);
    this.#scanners.set(scanner, known);
    return known;
  }
}

/** Compiles the recognizers of requests, and keeps the sets that were used last. */
export class RecognizerSets {
  readonly #sets = new Map<string, RecognizerSet>();

  /**
   * @param caller the id of the credential. Callers share no sets: the time of a reply would tell one caller what another one sent.
   * @throws GuardValidationError with the path of every invalid value.
   */
  of(given: readonly AdHocRecognizer[], caller: string | undefined): RecognizerSet {
    const key = createHash("sha256")
      .update(JSON.stringify([caller ?? null, given]))
      .digest("base64");
    const set = this.#sets.get(key) ?? new RecognizerSet(given);
    // The entry that was used last is the last one.
    this.#sets.delete(key);
    if (this.#sets.size >= MAX_SETS) this.#sets.delete(this.#sets.keys().next().value as string);
    this.#sets.set(key, set);
    return set;
  }
}
