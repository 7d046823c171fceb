import type { PiiFinding } from "../../native.ts";
import type { VaultEntry } from "../../scan/vault.ts";
import type { PiiScan } from "../parts/personal-data.ts";

/** Placeholders of a text with this number or a higher one do not raise later numbers. Otherwise one huge number would make all of them huge. */
const MAX_NUMBER = 1_000_000;

/**
 * Assigns placeholders to values. A value of a type keeps its placeholder as long as the vault lives, and a new placeholder never occurs
 * in the text.
 */
export class Placeholders {
  /** The placeholders by type and value. Fakes are stored by value alone, because their type is unknown. */
  readonly #known = new Map<string, string>();
  readonly #last = new Map<string, number>();
  readonly #taken = new Set<string>();

  /**
   * @param entries the entries of the vault.
   * @param numbers the numbers of everything in the text that looks like a placeholder.
   */
  constructor(entries: Iterable<VaultEntry>, numbers: PiiScan["numbers"]) {
    for (const [placeholder, value] of entries) {
      const [, type, number] = /^\[REDACTED_(\S+)_(\d+)\]$/u.exec(placeholder) ?? [];
      this.#known.set(key(value, type), placeholder);
      if (type !== undefined) this.#count(type, Number(number));
    }
    for (const { entity, number } of numbers) {
      if (number < MAX_NUMBER) this.#count(entity, number);
      else this.#taken.add(key(String(number), entity));
    }
  }

  /** Returns the existing placeholder or fake of a value. */
  known({ entity }: PiiFinding, value: string): string | undefined {
    return this.#known.get(key(value, entity)) ?? this.#known.get(key(value));
  }

  /** Assigns the fake to a value, or a new placeholder if there is no fake. */
  add({ entity }: PiiFinding, value: string, fake?: string): string {
    const placeholder = fake ?? this.#next(entity);
    this.#known.set(key(value, fake === undefined ? entity : undefined), placeholder);
    return placeholder;
  }

  #next(entity: string): string {
    const type = entity.toUpperCase();
    let number = (this.#last.get(type) ?? 0) + 1;
    while (this.#taken.has(key(String(number), type))) number++;
    this.#last.set(type, number);
    return `[REDACTED_${entity}_${number}]`;
  }

  #count(entity: string, number: number): void {
    const type = entity.toUpperCase();
    this.#last.set(type, Math.max(number, this.#last.get(type) ?? 0));
  }
}

/** Returns a key of a type and a value. A type has no spaces, so the first space separates them. */
function key(value: string, type = ""): string {
  return `${type} ${value}`;
}
