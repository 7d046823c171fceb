import { isRecord } from "../../support/is-record.ts";

/**
 * Counts the UTF-16 code units of all strings and field names in a body, at any depth. Field names count because tool calls and tool
 * definitions are scanned with them. The sealed `vault` does not count.
 *
 * @returns 0 for a stream or no body.
 */
export function countCharacters(body: unknown): number {
  if (typeof body === "string") return body.length;
  const { vault: _, ...fields } = isRecord(body) && isPlain(body) ? body : ({} as { vault?: unknown });
  let count = 0;
  const open: unknown[] = [Array.isArray(body) ? body : fields];
  // No recursion: bodies may be nested deeply.
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

/** Returns whether an object comes from JSON and is no stream or buffer. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
