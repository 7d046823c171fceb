/** The maximum depth of objects and arrays. Recursive serializers fail at a few thousand levels. */
const MAX_DEPTH = 500;

/** The maximum length of a key in an error. */
const MAX_KEY_LENGTH = 64;

/** Valid JSON that different parsers may read differently. */
export class AmbiguousJsonError extends Error {
  /** The keys and indexes that lead to the ambiguous value. */
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path.map((part) =>
      typeof part === "string" && part.length > MAX_KEY_LENGTH ? `${part.slice(0, MAX_KEY_LENGTH)}…` : part,
    );
  }
}

/**
 * Parses JSON and accepts only what every parser reads the same way: unique keys, and numbers within range (I-JSON, RFC 7493, sections
 * 2.2 and 2.3). Otherwise a request could say one thing to guard and another to the model behind it. Keys that could change prototypes and
 * more than 500 levels are refused too. The time is linear, without recursion, and less than twice that of `JSON.parse`.
 *
 * @throws SyntaxError for invalid JSON, and AmbiguousJsonError.
 */
export function parseStrict(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const keys = countKeys(value);
  if (keys === undefined) throw createError(value);
  // A duplicate key in the text replaced another one, so that the value has fewer keys.
  if (keys !== countKeysInText(text)) throw new AmbiguousJsonError(findDuplicate(text), "occurs more than once");
  return value;
}

/** Counts the keys of all objects in a value. It returns undefined if the value contains something that is refused. */
function countKeys(root: unknown): number | undefined {
  let count = 0;
  /** The objects and arrays of the current depth. */
  let level: object[] = [];
  let below: object[] = [];
  /** Queues objects and arrays, and returns whether the value is accepted. */
  const accept = (value: unknown): boolean => {
    if (typeof value === "object") {
      if (value !== null) below.push(value);
      return true;
    }
    return typeof value !== "number" || !isTooLarge(value);
  };
  if (!accept(root)) return undefined;
  for (let depth = 1; below.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return undefined;
    level = below;
    below = [];
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const child of value) if (!accept(child)) return undefined;
      } else {
        const record = value as Record<string, unknown>;
        const keys = Object.keys(record);
        count += keys.length;
        for (const key of keys) {
          const child = record[key];
          if (isForbidden(key, child) || !accept(child)) return undefined;
        }
      }
    }
  }
  return count;
}

function isTooLarge(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

function isForbidden(key: string, value: unknown): boolean {
  if (key === "__proto__") return true;
  return key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}

/** Creates the error for a value that {@link countKeys} refuses. */
function createError(root: unknown): AmbiguousJsonError {
  const open: { value: unknown; path: readonly (string | number)[] }[] = [{ value: root, path: [] }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { value, path } = at;
    if (isTooLarge(value)) return new AmbiguousJsonError(path, "is a number that is too large");
    if (typeof value !== "object" || value === null) continue;
    if (path.length >= MAX_DEPTH) break;
    for (const [key, child] of Object.entries(value)) {
      const below = [...path, Array.isArray(value) ? Number(key) : key];
      if (isForbidden(key, child)) return new AmbiguousJsonError(below, "has a forbidden name");
      open.push({ value: child, path: below });
    }
  }
  return new AmbiguousJsonError([], `may have at most ${MAX_DEPTH} levels`);
}

/** Counts the keys in a JSON text: the strings before a colon. */
function countKeysInText(text: string): number {
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
const NEAR_DISTANCE = 32;

/** Returns the end of a string that starts at a quotation mark: the offset after the next one that is not escaped. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    // indexOf is fast for a distant character, but slower than a loop for a near one.
    for (const near = Math.min(index + NEAR_DISTANCE, text.length); index < near; index += 1) {
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

/** Returns the path of the first duplicate key in valid JSON. */
function findDuplicate(text: string): (string | number)[] {
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
