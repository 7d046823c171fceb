/** The most levels of objects and arrays in a body. Programs that write a value by recursion fail at some thousands. */
const MOST_LEVELS = 500;

/** A key as errors show it has so many characters at most. */
const LONGEST_KEY = 64;

/** Valid JSON that two programs could read in two ways. */
export class AmbiguousJsonError extends Error {
  /** The keys and indexes that lead to the value at fault. */
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path.map((part) =>
      typeof part === "string" && part.length > LONGEST_KEY ? `${part.slice(0, LONGEST_KEY)}…` : part,
    );
  }
}

/**
 * Parses JSON that other programs read after guard or before it, and accepts only what all of them read in the same way: every name is
 * there once in its object, and every number can be held (I-JSON, RFC 7493, sections 2.2 and 2.3). Otherwise a request could say one thing
 * to guard and another to the model behind it. Names by which a value could change what objects inherit are not taken either, nor are more
 * than 500 levels. The time is linear in the length of the text, and there is no recursion. It takes less than twice the time of
 * `JSON.parse`.
 *
 * @throws SyntaxError for what is not JSON, and AmbiguousJsonError.
 */
export function parseStrict(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const keys = keysIn(value);
  if (keys === undefined) throw refused(value);
  // All keys of the text are in the value, unless one replaced another.
  if (keys !== keysOf(text)) throw new AmbiguousJsonError(repeated(text), "is there more than once");
  return value;
}

/** Counts the keys of all objects in a value. It is undefined where something is not taken, and finds out no more than that. */
function keysIn(root: unknown): number | undefined {
  let count = 0;
  /** The objects and arrays of one level, which are looked at before those below them. */
  let level: object[] = [];
  let below: object[] = [];
  /** Takes a value, and tells whether that may be done. */
  const isTaken = (value: unknown): boolean => {
    if (typeof value === "object") {
      if (value !== null) below.push(value);
      return true;
    }
    return typeof value !== "number" || !isTooLarge(value);
  };
  if (!isTaken(root)) return undefined;
  for (let depth = 1; below.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return undefined;
    level = below;
    below = [];
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const child of value) if (!isTaken(child)) return undefined;
      } else {
        const record = value as Record<string, unknown>;
        const keys = Object.keys(record);
        count += keys.length;
        for (const key of keys) {
          const child = record[key];
          if (isRefused(key, child) || !isTaken(child)) return undefined;
        }
      }
    }
  }
  return count;
}

function isTooLarge(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

function isRefused(key: string, value: unknown): boolean {
  if (key === "__proto__") return true;
  return key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}

/** The error for what {@link keysIn} does not take. */
function refused(root: unknown): AmbiguousJsonError {
  const open: { value: unknown; path: readonly (string | number)[] }[] = [{ value: root, path: [] }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { value, path } = at;
    if (isTooLarge(value)) return new AmbiguousJsonError(path, "is a number that is too large");
    if (typeof value !== "object" || value === null) continue;
    if (path.length >= MOST_LEVELS) break;
    for (const [key, child] of Object.entries(value)) {
      const below = [...path, Array.isArray(value) ? Number(key) : key];
      if (isRefused(key, child)) return new AmbiguousJsonError(below, "has a name that is not taken");
      open.push({ value: child, path: below });
    }
  }
  return new AmbiguousJsonError([], `may have ${MOST_LEVELS} levels at most`);
}

/** Counts the strings of a JSON text that a colon follows. */
function keysOf(text: string): number {
  let count = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start);
    if (isKey(text, end)) count += 1;
    start = text.indexOf('"', end);
  }
  return count;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const NEAR = 32;

/** Where a string ends that begins at a quotation mark: behind the next one that is not escaped. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    // To ask for the next place of a character is fast where it is far, and slow where it is near.
    for (const near = Math.min(index + NEAR, text.length); index < near; index += 1) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) return index + 1;
      if (code === BACKSLASH) index += 1;
    }
    const end = text.indexOf('"', index);
    let before = end - 1;
    while (before >= index && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
    index = end + 1;
  }
}

function isKey(text: string, end: number): boolean {
  for (let index = end; ; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COLON) return true;
    // Space, tab, line feed and carriage return (RFC 8259, section 2).
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return false;
  }
}

/** The path of the first key that its object has already. The text is valid JSON. */
function repeated(text: string): (string | number)[] {
  interface Frame {
    /** The keys so far; undefined for an array. */
    keys: Set<string> | undefined;
    key: string | number;
  }
  const frames: Frame[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const frame = frames.at(-1);
    if (code === 0x7b) frames.push({ keys: new Set(), key: "" });
    else if (code === 0x5b) frames.push({ keys: undefined, key: 0 });
    else if (code === 0x7d || code === 0x5d) frames.pop();
    else if (code === 0x2c && typeof frame?.key === "number") frame.key += 1;
    else if (code === QUOTE) {
      const end = endOfString(text, index);
      if (frame?.keys && isKey(text, end)) {
        frame.key = JSON.parse(text.slice(index, end)) as string;
        if (frame.keys.has(frame.key)) return frames.map(({ key }) => key);
        frame.keys.add(frame.key);
      }
      index = end - 1;
    }
  }
  return [];
}
