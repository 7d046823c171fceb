import { GuardValidationError } from "../support/errors.ts";

/** A placeholder and the text that it stands for. */
export type VaultEntry = readonly [placeholder: string, original: string];

/**
 * Keeps the pairs of placeholder and original value that are needed to restore an anonymized text. Each placeholder is kept once.
 *
 * A vault belongs to one call or to one conversation, and never to a whole program: anybody whose output is restored from it can be
 * shown every value in it. Pass it in the options of a scan. Between calls, store what `entries()` returns.
 */
export class Vault {
  readonly #originals: Map<string, string>;
  /**
   * The list that {@link entries} returned last. It is kept until a pair is added, because each text lists the vault several times.
   */
  #listed: readonly VaultEntry[] | undefined;

  /** @param pairs the first pairs; when two have the same placeholder, the later one wins. */
  constructor(pairs: Iterable<VaultEntry> = []) {
    this.#originals = new Map(pairs);
  }

  /** Adds a pair. */
  append([placeholder, original]: VaultEntry): void {
    this.#originals.set(placeholder, original);
    this.#listed = undefined;
  }

  /** How many pairs there are. */
  get size(): number {
    return this.#originals.size;
  }

  /** The pairs, in the order in which their placeholders were first added. */
  entries(): readonly VaultEntry[] {
    this.#listed ??= Object.freeze([...this.#originals]);
    return this.#listed;
  }
}

/**
 * Returns the part of a scanner's context that holds the vault. A call that rewrites nothing gets a copy, because no caller receives its
 * placeholders.
 *
 * @throws GuardValidationError when the value is not a vault.
 */
export function vaultFor(vault: Vault | undefined, rewrite: boolean): { vault?: Vault } {
  if (vault === undefined) return {};
  if (!(vault instanceof Vault)) throw new GuardValidationError([{ path: "vault", message: "expected a Vault" }]);
  return { vault: rewrite ? vault : new Vault(vault.entries()) };
}
