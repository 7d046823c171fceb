import type { PiiFinding } from "../../native.ts";
import { DerivedFromVaults, type Vault, type VaultEntry } from "../../scan/vault.ts";
import type { PiiScan } from "../parts/pii-scan.ts";

/** Placeholders of a text with this number or a higher one do not raise later numbers. Otherwise one huge number would make all of them huge. */
const MAX_NUMBER = 1_000_000;

/** What is known of the pairs of a vault. */
class Assigned {
  /** The placeholders by type and value. Fakes are stored by value alone, because their type is unknown. */
  readonly placeholders = new Map<string, string>();
  /** The last number of each type, in upper case. */
  readonly last = new Map<string, number>();

  add([placeholder, value]: VaultEntry): void {
    const [, type, number] = /^\[REDACTED_(\S+)_(\d+)\]$/u.exec(placeholder) ?? [];
    this.placeholders.set(key(value, type), placeholder);
    if (type !== undefined) raise(this.last, type, Number(number));
  }
}

const ASSIGNED = new DerivedFromVaults(
  () => new Assigned(),
  (assigned, entry) => assigned.add(entry),
);

/** All placeholders and values in lower case. */
const IN_LOWER_CASE = new DerivedFromVaults(
  () => new Set<string>(),
  (texts, [placeholder, value]) => texts.add(placeholder.toLowerCase()).add(value.toLowerCase()),
);

/** Returns a function that tells whether a vault has a text as a placeholder or a value, in any case. */
export function isInVault(vault: Vault): (text: string) => boolean {
  const texts = IN_LOWER_CASE.of(vault);
  return (text) => texts.has(text.toLowerCase());
}

/**
 * Assigns placeholders to the values of one text. A value of a type keeps its placeholder as long as the vault lives, and a new
 * placeholder never occurs in the text. The cost depends on the text, not on the size of the vault.
 */
export class Placeholders {
  readonly #vault: Assigned;
  /** What the text adds to that of the vault. */
  readonly #known = new Map<string, string>();
  readonly #last = new Map<string, number>();
  readonly #taken = new Set<string>();

  /** @param numbers the numbers of everything in the text that looks like a placeholder. */
  constructor(vault: Vault, numbers: PiiScan["numbers"]) {
    this.#vault = ASSIGNED.of(vault);
    for (const { entity, number } of numbers) {
      if (number < MAX_NUMBER) raise(this.#last, entity, number);
      else this.#taken.add(key(String(number), entity));
    }
  }

  /** Returns the existing placeholder or fake of a value. */
  known({ entity }: PiiFinding, value: string): string | undefined {
    const [typed, untyped] = [key(value, entity), key(value)];
    const { placeholders } = this.#vault;
    return this.#known.get(typed) ?? placeholders.get(typed) ?? this.#known.get(untyped) ?? placeholders.get(untyped);
  }

  /** Assigns the fake to a value, or a new placeholder if there is no fake. */
  add({ entity }: PiiFinding, value: string, fake?: string): string {
    const placeholder = fake ?? this.#next(entity);
    this.#known.set(key(value, fake === undefined ? entity : undefined), placeholder);
    return placeholder;
  }

  #next(entity: string): string {
    const type = entity.toUpperCase();
    let number = Math.max(this.#last.get(type) ?? 0, this.#vault.last.get(type) ?? 0) + 1;
    while (this.#taken.has(key(String(number), type))) number++;
    this.#last.set(type, number);
    return `[REDACTED_${entity}_${number}]`;
  }
}

function raise(last: Map<string, number>, entity: string, number: number): void {
  const type = entity.toUpperCase();
  last.set(type, Math.max(number, last.get(type) ?? 0));
}

/** Returns a key of a type and a value. A type has no spaces, so the first space separates them. */
function key(value: string, type = ""): string {
  return `${type} ${value}`;
}
