import type { PiiFinding } from "../../native.ts";
import type { VaultEntry } from "../../scan/vault.ts";
import type { PiiScan } from "../parts/personal-data.ts";

/**
 * Numbers of placeholders in a text that are not below this do not raise the numbers that follow. Otherwise a text with a huge
 * number would make all later numbers huge.
 */
const HIGHEST = 1_000_000;

/**
 * Numbers values. The same value of the same type has the same placeholder for as long as the vault lives, and no new placeholder
 * is one that the text already contains.
 */
export class Placeholders {
  /** The placeholders by type and value. Fakes are stored by value alone, because nobody can tell the type of a fake. */
  readonly #known = new Map<string, string>();
  readonly #last = new Map<string, number>();
  readonly #taken = new Set<string>();

  /**
   * @param entries the entries of the vault.
   * @param numbers the numbers of the parts of the text that look like placeholders.
   */
  constructor(entries: Iterable<VaultEntry>, numbers: PiiScan["numbers"]) {
    for (const [placeholder, value] of entries) {
      const [, type, number] = /^\[REDACTED_(\S+)_(\d+)\]$/u.exec(placeholder) ?? [];
      this.#known.set(key(value, type), placeholder);
      if (type !== undefined) this.#count(type, Number(number));
    }
    for (const { entity, number } of numbers) {
      if (number < HIGHEST) this.#count(entity, number);
      else this.#taken.add(key(String(number), entity));
    }
  }

  /** Returns the placeholder or the fake that a value already has. */
  known({ entity }: PiiFinding, value: string): string | undefined {
    return this.#known.get(key(value, entity)) ?? this.#known.get(key(value));
  }

  /** Gives a value the fake, or a new placeholder when there is no fake. */
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

/** Makes a key from a type and a value. A type has no spaces, so the first space is the border between the two. */
function key(value: string, type = ""): string {
  return `${type} ${value}`;
}
