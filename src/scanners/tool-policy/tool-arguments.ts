import { isRecord } from "../../support/is-record.ts";

/** A string, number, boolean or null in the arguments of a tool call. */
export interface Argument {
  /** The path, with points between keys: `attachments[0].path`. It is empty if the arguments consist of this value. */
  path: string;
  /** The value, as a text. */
  text: string;
}

/** Returns all values of arguments that are neither objects nor arrays, in order. */
export function argumentsIn(value: unknown, path = ""): Argument[] {
  const found: Argument[] = [];
  // No recursion, because arguments can be nested to any depth.
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
 * Returns the values at or below a path such as `to` or `attachments.path`. A rule for `to` applies to each item of an array too: a model
 * that writes a list instead of one value must not evade the rule.
 */
export function argumentsAt(value: unknown, path: string): Argument[] {
  const below = (value: unknown, rest: string, at: string): Argument[] => {
    if (rest === "") return argumentsIn(value, at);
    if (Array.isArray(value)) return value.flatMap((item, index) => below(item, rest, `${at}[${index}]`));
    if (!isRecord(value)) return [];
    // A key may contain points, so every beginning of the path is tried.
    return Object.keys(value)
      .filter((key) => rest === key || rest.startsWith(`${key}.`))
      .flatMap((key) => below(value[key], rest.slice(key.length + 1), at === "" ? key : `${at}.${key}`));
  };
  return below(value, path.replace(/^\$\./, ""), "");
}

/** Creates a function that tells whether a text matches one of the patterns, where `*` stands for any characters. */
export function anyOf(patterns: readonly (string | number | boolean)[]): (text: string) => boolean {
  const exact = new Set<string>();
  const wild: (readonly string[])[] = [];
  for (const pattern of patterns) {
    if (typeof pattern === "string" && pattern.includes("*")) wild.push(pattern.split("*"));
    else exact.add(String(pattern));
  }
  return (text) => exact.has(text) || wild.some((parts) => matches(parts, text));
}

/** Tells whether a text consists of these parts, in order and with anything between them. */
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
