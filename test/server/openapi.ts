/** The part of a document that a reference such as `#/components/schemas/Problem` names. */
function target(document: unknown, reference: string): unknown {
  const [, ...names] = reference.split("/");
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

/** Returns the document with its references resolved. This ends, because no schema of guard refers to itself. */
export function dereferenced<T>(document: T): T {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value) {
      const found = target(document, value.$ref as string);
      if (found === undefined) throw new Error(`${value.$ref} leads nowhere`);
      return resolve(found);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item)]));
  };
  return resolve(document) as T;
}
