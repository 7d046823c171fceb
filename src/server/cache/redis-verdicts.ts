import type { KeyObject } from "node:crypto";
import type { Scanner } from "../../scan/scanner.ts";
import type { SharedVerdicts, VerdictStore } from "../../scan/verdict-cache.ts";
import { deriveKey, KEY_BYTES } from "../../support/secret-keys.ts";
import type { RedisStore } from "./redis-store.ts";

/** Shares the verdicts of conversations between servers through Redis. */
export class RedisVerdicts implements SharedVerdicts {
  readonly secret: Uint8Array;
  readonly #scanners: readonly Scanner[];
  readonly #readFingerprint: () => string;
  #fingerprint: string | undefined;
  #store: RedisStore | undefined;

  /**
   * @param secret the secret that the servers share.
   * @param scanners the input scanners. Servers with the same fingerprint have the same list.
   */
  constructor(secret: KeyObject, scanners: readonly Scanner[], fingerprint: () => string) {
    this.secret = deriveKey(secret, "", "verdict key", KEY_BYTES);
    this.#scanners = scanners;
    this.#readFingerprint = fingerprint;
  }

  /** Starts to share. Before, the store is empty. */
  connect(store: RedisStore): void {
    this.#store = store;
  }

  readonly store: VerdictStore = {
    get: async (keys) => (await this.#store?.getAll(keys)) ?? [],
    set: (key, value) => this.#store?.set(key, value),
  };

  idOf(scanner: Scanner): string | undefined {
    const index = this.#scanners.indexOf(scanner);
    if (index < 0) return undefined;
    this.#fingerprint ??= this.#readFingerprint();
    return `${this.#fingerprint} ${index}`;
  }
}
