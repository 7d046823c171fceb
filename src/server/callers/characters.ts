import { isRecord } from "../../support/is-record.ts";

/**
 * Counts the characters of the texts in a body, at any depth, names of fields included: in tool calls and definitions of tools these are
 * read too. Characters are UTF-16 code units, whose number is known without reading the texts. The sealed `vault` of the body is no
 * text.
 *
 * @returns 0 for a body that is a stream, or none.
 */
export function charactersOf(body: unknown): number {
  if (typeof body === "string") return body.length;
  const { vault: _, ...fields } = isRecord(body) && isPlain(body) ? body : ({} as { vault?: unknown });
  let count = 0;
  const open: unknown[] = [Array.isArray(body) ? body : fields];
  // A list of its own in place of a recursion: bodies may be nested deeply.
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") count += value.length;
    else if (Array.isArray(value)) for (const item of value) open.push(item);
    else if (isRecord(value)) {
      for (const [name, item] of Object.entries(value)) {
        count += name.length;
        open.push(item);
      }
    }
  }
  return count;
}

/** Whether an object is one of JSON, and not a stream or a buffer. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
