import { isRecord } from "../../support/is-record.ts";

/** A string, number, boolean or null in the arguments of a tool call. */
export interface Argument {
  /** Where it stands, with points between keys: `attachments[0].path`. It is empty when the arguments are this value. */
  path: string;
  /** The value, as a text. */
  text: string;
}

/** Returns all values of arguments that are no objects and no arrays, in their order. */
export function argumentsIn(value: unknown, path = ""): Argument[] {
  const found: Argument[] = [];
  // Arguments may be nested as deeply as a model likes, so this does not recurse.
  const open: { value: unknown; path: string }[] = [{ value, path }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next;
    const inner = Array.isArray(value)
      ? value.map((item, index) => ({ value: item as unknown, path: `${path}[${index}]` }))
      : isRecord(value)
        ? Object.entries(value).map(([key, item]) => ({ value: item, path: path === "" ? key : `${path}.${key}` }))
        : undefined;
    if (inner) open.push(...inner.reverse());
    else found.push({ path, text: typeof value === "string" ? value : String(value) });
  }
  return found;
}

/**
 * Returns the values at or below a path such as `to` or `attachments.path`. Arrays are looked through, so that a rule for `to` holds
 * for each item of a list as well: a model that writes a list where one value is expected must not escape the rule.
 */
export function argumentsAt(value: unknown, path: string): Argument[] {
  const below = (value: unknown, rest: string, at: string): Argument[] => {
    if (rest === "") return argumentsIn(value, at);
    if (Array.isArray(value)) return value.flatMap((item, index) => below(item, rest, `${at}[${index}]`));
    if (!isRecord(value)) return [];
    // A key may have points itself, so every beginning of the path is tried.
    return Object.keys(value)
      .filter((key) => rest === key || rest.startsWith(`${key}.`))
      .flatMap((key) => below(value[key], rest.slice(key.length + 1), at === "" ? key : `${at}.${key}`));
  };
  return below(value, path.replace(/^\$\./, ""), "");
}

/** Makes a test of whether a text is one of these, where `*` stands for any characters. */
export function anyOf(patterns: readonly (string | number | boolean)[]): (text: string) => boolean {
  const exact = new Set<string>();
  const wild: (readonly string[])[] = [];
  for (const pattern of patterns) {
    if (typeof pattern === "string" && pattern.includes("*")) wild.push(pattern.split("*"));
    else exact.add(String(pattern));
  }
  return (text) => exact.has(text) || wild.some((parts) => matches(parts, text));
}

/** Tells whether a text consists of these parts, in their order and with anything between them. */
function matches(parts: readonly string[], text: string): boolean {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
