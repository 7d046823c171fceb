/**
 * Makes a value when it is asked for the first time, and keeps it. It is for what takes milliseconds to make, such as large schemas,
 * and is not needed by every program that imports guard.
 */
export function onFirstUse<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
