import { GuardError } from "../../support/errors.ts";

/** The error for a checked request whose structure differs from the original. It must not be sent. */
export function shapeError(): GuardError {
  return new GuardError("GUARD_UNREACHABLE", "guard returned a request with a different structure.");
}

/** Returns a copy of an object with another value of a field, or the object itself if the value is the same. */
export function withField<Thing extends object, Key extends keyof Thing>(
  thing: Thing,
  key: Key,
  value: unknown,
): Thing {
  const before = thing[key];
  if (value === before) return thing;
  if (typeof value !== typeof before) throw shapeError();
  return { ...thing, [key]: value };
}

/** Maps the items of an array. Returns the array itself if no item changes. */
export function mapItems<Item>(items: readonly Item[], map: (item: Item, index: number) => Item): readonly Item[] {
  let isChanged = false;
  const result = items.map((item, index) => {
    const after = map(item, index);
    isChanged ||= after !== item;
    return after;
  });
  return isChanged ? result : items;
}

/** Parses a JSON text. Returns the text itself if it is not JSON, because a placeholder replaced a number. */
export function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
