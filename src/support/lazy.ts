/**
 * Returns a function that creates a value on its first call and then returns the same value. Use it for values that take milliseconds to
 * create, such as large schemas, and that not every program needs.
 */
export function lazy<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
