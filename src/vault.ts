/** A placeholder and the text that it stands for. */
export type VaultEntry = readonly [placeholder: string, original: string];

/**
 * Keeps what an anonymized text has to be restored with: pairs of placeholder and original, each placeholder once.
 *
 * A vault belongs to one call or one conversation, never to all of a program: whoever's output is restored from it can be
 * shown every value in it. Pass it in the options of a scan; `entries()` is what to keep of it between calls.
 */
export class Vault {
  readonly #originals: Map<string, string>;
  /** The list that {@link entries} gave, until a pair is added: a vault is listed several times a text. */
  #listed: readonly VaultEntry[] | undefined;

  /** @param pairs pairs to begin with; a later one replaces an earlier one of the same placeholder. */
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

  /** The pairs, in the order of their first appearance. */
  entries(): readonly VaultEntry[] {
    this.#listed ??= Object.freeze([...this.#originals]);
    return this.#listed;
  }
}
