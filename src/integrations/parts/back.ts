import { GuardError } from "../../support/errors.ts";

/** The error for a request that guard hands back in another shape than it got. Nothing of it may be sent. */
export function otherShape(): GuardError {
  return new GuardError("GUARD_UNREACHABLE", "guard returned a request of another shape than it was given.");
}

/** Returns an object with another value for a field, and the object itself when the value is the same. */
export function withField<Thing extends object, Key extends keyof Thing>(
  thing: Thing,
  key: Key,
  value: unknown,
): Thing {
  const before = thing[key];
  if (value === before) return thing;
  if (typeof value !== typeof before) throw otherShape();
  return { ...thing, [key]: value };
}

/** Returns an array with its items mapped, and the array itself when no item changed. */
export function mapped<Item>(items: readonly Item[], map: (item: Item, index: number) => Item): readonly Item[] {
  let isChanged = false;
  const result = items.map((item, index) => {
    const after = map(item, index);
    isChanged ||= after !== item;
    return after;
  });
  return isChanged ? result : items;
}

/** The value of a JSON text; the text itself where it is none, because a number of it was replaced. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
