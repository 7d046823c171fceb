import { lazyPackage } from "../support/lazy-package.ts";
import { isProse } from "./names.ts";

/** Loaded by the first text that is JSON. */
const parser = lazyPackage<typeof import("jsonc-parser")>("jsonc-parser");

/** The kinds of tokens, as `SyntaxKind` of jsonc-parser numbers them. It is an enum of its types only. */
const KIND = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  string: 10,
  number: 11,
  end: 17,
};

/** How deep JSON may stand inside strings of JSON. Deeper strings are read as they are. */
const MOST_NESTED = 8;

/** How many keys and indexes a path names. Deeper strings are read all the same, with a path that ends in `…`. */
const LONGEST_PATH = 64;

/** How many characters of a key a path shows, so that paths of a long key do not multiply it. */
const LONGEST_KEY = 40;

/** JSON that is deeper than this is not handed on as a value, since programs walk through values recursively. */
const DEEPEST_VALUE = 100;

/** A string, number or key of a JSON text that is read. */
export interface JsonToken {
  /** The range of the token in the JSON text, with its quotes. */
  start: number;
  end: number;
  /** The JSON inside the string, where the string is JSON itself. Its tokens are read in the place of the string. */
  inner?: JsonText;
}

/** A text that is JSON, with its tokens that are read, in their order. */
export interface JsonText {
  text: string;
  tokens: JsonToken[];
}

/** A string inside a JSON text. */
export interface JsonPiece {
  value: string;
  /** The places in the JSON texts that lie in each other, with ` → ` between them: `body → results[2].description`. */
  path: string;
  token: JsonToken;
}

export interface JsonReading {
  json: JsonText;
  pieces: JsonPiece[];
  /** The parsed JSON, where it is not too deep to be handed on. */
  value?: unknown;
}

/**
 * Reads the strings of a text that is a JSON object, array or string: all values, keys that could be prose, and on demand also numbers
 * of seven or more digits, such as card numbers. Empty strings are left out. The time is linear in the length of the text, for any
 * depth.
 *
 * @returns undefined when the text is no such JSON.
 */
export function readJson(text: string, withNumbers: boolean): JsonReading | undefined {
  const pieces: JsonPiece[] = [];
  const read = readLevel(text, { withNumbers, pieces, before: "", level: 0 });
  if (!read) return;
  const { json, value, depth } = read;
  return { json, pieces, ...(depth <= DEEPEST_VALUE ? { value } : {}) };
}

interface Level {
  withNumbers: boolean;
  pieces: JsonPiece[];
  /** The path of the string that is read as JSON, with an arrow behind it. */
  before: string;
  level: number;
}

/** An object or array that is open at a place of the text. */
interface Frame {
  isArray: boolean;
  path: string;
  index: number;
  /** The key whose value comes next; undefined where a key comes next. */
  key?: string | undefined;
}

function readLevel(text: string, { withNumbers, pieces, before, level }: Level) {
  if (!/^\s*[[{"]/.test(text)) return;
  let value: unknown;
  try {
    // This decides what is JSON, and its parser has no recursion. The tokens then need no checks.
    value = JSON.parse(text);
  } catch {
    return;
  }
  const json: JsonText = { text, tokens: [] };
  const frames: Frame[] = [];
  let depth = 0;
  const scanner = parser().createScanner(text, true);
  const keep = (value: string, path: string) => {
    const start = scanner.getTokenOffset();
    const token: JsonToken = { start, end: start + scanner.getTokenLength() };
    const inner =
      level < MOST_NESTED
        ? readLevel(value, { withNumbers, pieces, before: `${before}${path} → `, level: level + 1 })
        : undefined;
    if (inner) token.inner = inner.json;
    else pieces.push({ value, path: before + path, token });
    json.tokens.push(token);
  };
  for (let kind: number = scanner.scan(); kind !== KIND.end; kind = scanner.scan()) {
    const frame = frames.at(-1);
    if (kind === KIND.openBrace || kind === KIND.openBracket) {
      const path = pathOf(frame, frames.length);
      frames.push({ isArray: kind === KIND.openBracket, path, index: 0 });
      depth = Math.max(depth, frames.length);
    } else if (kind === KIND.closeBrace || kind === KIND.closeBracket) {
      frames.pop();
    } else if (kind === KIND.comma && frame) {
      frame.index += 1;
      frame.key = undefined;
    } else if (kind === KIND.string) {
      const string = scanner.getTokenValue();
      if (frame && !frame.isArray && frame.key === undefined) {
        frame.key = string;
        if (isProse(string)) keep(string, `${pathOf(frame, frames.length)} (key)`);
      } else if (string !== "") {
        keep(string, pathOf(frame, frames.length) || "$");
      }
    } else if (kind === KIND.number && withNumbers && isLongNumber(scanner.getTokenValue())) {
      keep(scanner.getTokenValue(), pathOf(frame, frames.length));
    }
  }
  return { json, value, depth };
}

/** The path of the value that comes next in a frame. */
function pathOf(frame: Frame | undefined, depth: number): string {
  if (!frame) return "";
  if (depth > LONGEST_PATH) return frame.path.endsWith("…") ? frame.path : `${frame.path}…`;
  if (frame.isArray) return `${frame.path}[${frame.index}]`;
  const key = frame.key ?? "";
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) || key.length > LONGEST_KEY) {
    return `${frame.path}[${JSON.stringify(shortKey(key))}]`;
  }
  return frame.path === "" ? key : `${frame.path}.${key}`;
}

/** A key as paths show it. */
export function shortKey(key: string): string {
  return key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key;
}

/**
 * Whether a number could be a card, an account or a phone number: a whole number of seven or more digits, in any notation. Coordinates
 * and measures have as many digits, but behind a point.
 */
export function isLongNumber(number: string): boolean {
  return (
    /^-?\d{7,}(?:\.0*)?$/.test(number) ||
    (/e/i.test(number) && Number.isInteger(Number(number)) && /(?:\d\D?){7}/.test(number))
  );
}

/**
 * Returns a JSON text with the tokens that have a replacement replaced by strings. All other characters stay as they are.
 */
export function replaceInJson({ text, tokens }: JsonText, replacements: ReadonlyMap<JsonToken, string>): string {
  let result = "";
  let end = 0;
  for (const token of tokens) {
    const changed = token.inner ? replaceInJson(token.inner, replacements) : replacements.get(token);
    if (changed === undefined || changed === token.inner?.text) continue;
    result += text.slice(end, token.start) + JSON.stringify(changed);
    end = token.end;
  }
  return result + text.slice(end);
}
