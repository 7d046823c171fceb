import { GuardError, GuardValidationError } from "../support/errors.ts";
import { TextIndex } from "../text/text-index.ts";

/** A placeholder and the text that it stands for. */
export type VaultEntry = readonly [placeholder: string, original: string];

/** A limit of a vault. */
export interface VaultLimit {
  /** The most bytes that its pairs take as JSON in UTF-8. */
  maxBytes: number;
  /** The message of the error for a pair beyond the limit. It must quote no text. */
  message: string;
}

/** A vault has no room for another value. Scanners pass this error on, because no scanner is at fault. */
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
  /** How many pairs replaced another one with the same placeholder. */
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
 * Keeps the pairs of placeholder and original value that are needed to restore an anonymized text. Each placeholder is kept once.
 *
 * A vault belongs to one call or to one conversation, and never to a whole program: anybody whose output is restored from it can be
 * shown every value in it. Pass it in the options of a scan. Between calls, store what `entries()` returns.
 */
export class Vault {
  #pairs: VaultPairs;
  #isReadOnly = false;

  /**
   * @param pairs the first pairs; when two have the same placeholder, the later one wins.
   * @throws GuardError `GUARD_TOO_LARGE` if they are beyond the limit.
   */
  constructor(pairs: Iterable<VaultEntry> = [], limit?: VaultLimit) {
    this.#pairs = new VaultPairs(limit);
    for (const pair of pairs) this.append(pair);
  }

  /**
   * Adds a pair.
   *
   * @throws GuardError `GUARD_TOO_LARGE` beyond the limit of the vault.
   */
  append(pair: VaultEntry): void {
    if (!this.#isReadOnly) this.#pairs.append(pair);
  }

  /** How many pairs there are. */
  get size(): number {
    return this.#pairs.entries.length;
  }

  /** The pairs, in the order in which their placeholders were first added. */
  entries(): readonly VaultEntry[] {
    this.#pairs.listed ??= Object.freeze([...this.#pairs.entries]);
    return this.#pairs.listed;
  }

  /** Returns the pairs from an index on, without a copy of those before it. */
  entriesFrom(index: number): VaultEntry[] {
    return this.#pairs.entries.slice(index);
  }

  /**
   * Returns the pairs whose placeholders occur in a text, also inside each other. This takes time in the length of the text, whatever the
   * size of the vault.
   */
  entriesIn(text: string): VaultEntry[] {
    return this.#pairs.entriesIn(text);
  }

  /** Returns a vault with the same pairs that ignores new ones: what a scan adds that rewrites nothing reaches no caller. */
  readOnly(): Vault {
    const view = new Vault();
    view.#pairs = this.#pairs;
    view.#isReadOnly = true;
    return view;
  }

  /**
   * Identifies the pairs for those who derive something from them step by step, by {@link entriesFrom}. It changes if a pair was replaced,
   * so they begin again then.
   */
  version(): { pairs: object; replacements: number } {
    return { pairs: this.#pairs, replacements: this.#pairs.replacements };
  }
}

/** What is derived from the pairs of vaults, one pair after the other. The cost of an update is that of the new pairs. */
export class DerivedFromVaults<State> {
  readonly #states = new WeakMap<object, { state: State; read: number; replacements: number }>();
  readonly #create: () => State;
  readonly #add: (state: State, entry: VaultEntry) => void;

  constructor(create: () => State, add: (state: State, entry: VaultEntry) => void) {
    this.#create = create;
    this.#add = add;
  }

  /** Returns the state of all pairs of a vault. */
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
 * Returns the part of a scanner's context that holds the vault. A call that rewrites nothing only reads the vault.
 *
 * @throws GuardValidationError when the value is not a vault.
 */
export function vaultFor(vault: Vault | undefined, rewrite: boolean): { vault?: Vault } {
  if (vault === undefined) return {};
  if (!(vault instanceof Vault)) throw new GuardValidationError([{ path: "vault", message: "expected a Vault" }]);
  return { vault: rewrite ? vault : vault.readOnly() };
}
