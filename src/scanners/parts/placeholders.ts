import type { PiiFinding, PiiScan } from "../../native.ts";
import type { VaultEntry } from "../../vault.ts";

/** Numbers beyond which nobody counts: a text that has one does not make all that follow higher. */
const HIGHEST = 1_000_000;

/**
 * Numbers values: the same value of the same type has the same placeholder through a vault, and no placeholder is one that the
 * text has already.
 */
export class Placeholders {
  /** Placeholders by type and value; fakes by value, since nobody can tell their type. */
  readonly #known = new Map<string, string>();
  readonly #last = new Map<string, number>();
  readonly #taken = new Set<string>();

  /**
   * @param entries what the vault holds.
   * @param numbers numbers of what looks like a placeholder in the text.
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

  /** The placeholder, or the fake, that a value already has. */
  known({ entity }: PiiFinding, value: string): string | undefined {
    return this.#known.get(key(value, entity)) ?? this.#known.get(key(value));
  }

  /** Gives a value a fake, or without one a new placeholder. */
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

/** A type has no spaces, so the first one is the border. */
function key(value: string, type = ""): string {
  return `${type} ${value}`;
}
