import { GuardError, GuardValidationError } from "../support/errors.ts";
import { TextIndex } from "../text/text-index.ts";

/** A placeholder and its original value. */
export type VaultEntry = readonly [placeholder: string, original: string];

/** A limit of a vault. */
export interface VaultLimit {
  /** The maximum bytes of its pairs as JSON in UTF-8. */
  maxBytes: number;
  /** The error message for a pair beyond the limit. It must quote no text. */
  message: string;
}

/** The error of a full vault. It is not wrapped in a ScannerError, because no scanner is at fault. */
export class VaultFullError extends GuardError {
  constructor(message: string) {
    super("GUARD_TOO_LARGE", message);
  }
}

/** The pairs of a vault. */
class VaultPairs {
  readonly entries: VaultEntry[] = [];
  /** The index of each placeholder among the entries. */
  readonly indices = new Map<string, number>();
  readonly limit: VaultLimit | undefined;
  bytes = 0;
  /** The number of pairs that replaced another one with the same placeholder. */
  replacements = 0;
  listed: readonly VaultEntry[] | undefined;
  /** The placeholders of the first {@link indexed} entries. */
  readonly index = new TextIndex();
  indexed = 0;

  constructor(limit: VaultLimit | undefined) {
    this.limit = limit;
  }

  append(pair: VaultEntry): void {
    const [placeholder, original] = pair;
    if (this.limit) {
      this.bytes += Buffer.byteLength(JSON.stringify(pair)) + 1;
      if (this.bytes > this.limit.maxBytes) throw new VaultFullError(this.limit.message);
    }
    const index = this.indices.get(placeholder);
    if (index === undefined) {
      this.indices.set(placeholder, this.entries.length);
      this.entries.push([placeholder, original]);
    } else if (this.entries[index]?.[1] !== original) {
      this.entries[index] = [placeholder, original];
      this.replacements++;
    }
    this.listed = undefined;
  }

  entriesIn(text: string): VaultEntry[] {
    const { entries, indices } = this;
    if (entries.length === 0) return [];
    for (; this.indexed < entries.length; this.indexed++) this.index.add((entries[this.indexed] as VaultEntry)[0]);
    const placeholders = [...this.index.occurringIn(text)];
    return placeholders.map((placeholder) => entries[indices.get(placeholder) as number] as VaultEntry);
  }
}

/**
 * Stores the pairs of placeholder and original value that restore an anonymized text. Each placeholder is stored once.
 *
 * A vault belongs to one call or one conversation, never to a whole program, because every output that is restored from it may reveal
 * every value in it. Pass it in the options of a scan. Between calls, store the result of `entries()`.
 */
export class Vault {
  #pairs: VaultPairs;
  #isReadOnly = false;
  /** See {@link monitored}. */
  #copy: { vault: Vault; read: number; replacements: number } | undefined;

  /**
   * @param pairs the initial pairs. The later of two pairs with the same placeholder wins.
   * @throws GuardError `GUARD_TOO_LARGE` if they exceed the limit.
   */
  constructor(pairs: Iterable<VaultEntry> = [], limit?: VaultLimit) {
    this.#pairs = new VaultPairs(limit);
    for (const pair of pairs) this.append(pair);
  }

  /**
   * Adds a pair.
   *
   * @throws GuardError `GUARD_TOO_LARGE` if it exceeds the limit of the vault.
   */
  append(pair: VaultEntry): void {
    if (!this.#isReadOnly) this.#pairs.append(pair);
  }

  /** The number of pairs. */
  get size(): number {
    return this.#pairs.entries.length;
  }

  /** The pairs, in the order in which their placeholders were first added. */
  entries(): readonly VaultEntry[] {
    this.#pairs.listed ??= Object.freeze([...this.#pairs.entries]);
    return this.#pairs.listed;
  }

  /** Returns the pairs from an index on, without copying those before it. */
  entriesFrom(index: number): VaultEntry[] {
    return this.#pairs.entries.slice(index);
  }

  /** Returns the pairs whose placeholders occur in a text, also within each other. The time depends on the length of the text only. */
  entriesIn(text: string): VaultEntry[] {
    return this.#pairs.entriesIn(text);
  }

  /** Returns a vault with the same pairs that ignores new ones, for scans that rewrite nothing and whose placeholders are unused. */
  readOnly(): Vault {
    const view = new Vault();
    view.#pairs = this.#pairs;
    view.#isReadOnly = true;
    return view;
  }

  /**
   * Returns the copy for scanners that only monitor, always the same one. It receives the pairs of this vault, but this vault receives none of
   * its pairs, and it has no limit.
   */
  monitored(): Vault {
    const { replacements } = this.#pairs;
    if (this.#copy?.replacements !== replacements) this.#copy = { vault: new Vault(), read: 0, replacements };
    const { vault, read } = this.#copy;
    if (read < this.size) {
      for (const pair of this.entriesFrom(read)) vault.append(pair);
      this.#copy.read = this.size;
    }
    return vault;
  }

  /** Identifies the pairs for incremental derivations with {@link entriesFrom}. After a pair was replaced, they must start again. */
  version(): { pairs: object; replacements: number } {
    return { pairs: this.#pairs, replacements: this.#pairs.replacements };
  }
}

/** A state that is derived from the pairs of vaults incrementally, so that an update costs only the new pairs. */
export class DerivedFromVaults<State> {
  readonly #states = new WeakMap<object, { state: State; read: number; replacements: number }>();
  readonly #create: () => State;
  readonly #add: (state: State, entry: VaultEntry) => void;

  constructor(create: () => State, add: (state: State, entry: VaultEntry) => void) {
    this.#create = create;
    this.#add = add;
  }

  /** Returns the state for all pairs of a vault. */
  of(vault: Vault): State {
    const { pairs, replacements } = vault.version();
    let known = this.#states.get(pairs);
    if (known?.replacements !== replacements) {
      known = { state: this.#create(), read: 0, replacements };
      this.#states.set(pairs, known);
    }
    if (known.read < vault.size) {
      for (const entry of vault.entriesFrom(known.read)) this.#add(known.state, entry);
      known.read = vault.size;
    }
    return known.state;
  }
}

/**
 * Returns the part of a scanner's context with the vault. A call that rewrites nothing only reads the vault.
 *
 * @throws GuardValidationError if the value is not a vault.
 */
export function vaultFor(vault: Vault | undefined, rewrite: boolean): { vault?: Vault } {
  if (vault === undefined) return {};
  if (!(vault instanceof Vault)) throw new GuardValidationError([{ path: "vault", message: "expected a Vault" }]);
  return { vault: rewrite ? vault : vault.readOnly() };
}
