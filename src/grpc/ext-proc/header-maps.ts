import { type HeaderMutation, type HeaderValue, headerMutation } from "./messages.ts";

/** The headers of a message. */
export interface ReceivedHeaders {
  /** Names that begin with a colon, such as `:path`, with their values. */
  pseudo: Map<string, string>;
  headers: Headers;
}

/**
 * Reads the headers of a message. Values are bytes, which are read as Latin-1, as Node.js does.
 *
 * @throws TypeError for a name or value that HTTP does not allow.
 */
export function readHeaders(values: readonly HeaderValue[] = []): ReceivedHeaders {
  const pseudo = new Map<string, string>();
  const headers = new Headers();
  for (const { key, value = "", rawValue } of values) {
    const text = rawValue?.length ? Buffer.from(rawValue).toString("latin1") : value;
    if (key.startsWith(":")) pseudo.set(key, text);
    else headers.append(key, text);
  }
  return { pseudo, headers };
}

/** Returns the mutation that turns headers into others, except for those named in `ignored`. */
export function headerChanges(before: Headers, after: Headers, ignored: readonly string[] = []): HeaderMutation {
  const isCompared = (name: string) => !ignored.includes(name);
  const changed = [...after.keys()].filter((name) => isCompared(name) && after.get(name) !== before.get(name));
  const removed = [...before.keys()].filter((name) => isCompared(name) && !after.has(name));
  return headerMutation(Object.fromEntries(changed.map((name) => [name, after.get(name) as string])), removed);
}
