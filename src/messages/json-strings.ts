import { lazyPackage } from "../support/lazy-package.ts";
import { isProse } from "./text-checks.ts";

/** The parser is loaded by the first JSON text. */
const parser = lazyPackage<typeof import("jsonc-parser")>("jsonc-parser");

/** The values of `SyntaxKind` of jsonc-parser, which exports that enum only as a type. */
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

/** The maximum nesting of JSON inside JSON strings. Deeper strings are read as plain strings. */
const MAX_NESTING = 8;

/** The maximum number of keys and indexes in a path. The path of a deeper string ends in `…`. */
const MAX_PATH_DEPTH = 64;

/** The maximum length of a key in a path, so that many paths do not repeat a long key. */
const MAX_KEY_LENGTH = 40;

/** The value of deeper JSON is not returned, because programs walk through values recursively. */
const MAX_VALUE_DEPTH = 100;

/** A string, number or key of a JSON text. */
export interface JsonToken {
  /** The range of the token in the JSON text, with its quotes. */
  start: number;
  end: number;
  /** The JSON inside the string, if there is any. Its tokens are read instead of the string. */
  inner?: JsonText;
}

/** A JSON text and its tokens in order. */
export interface JsonText {
  text: string;
  tokens: JsonToken[];
}

/** A string inside a JSON text. */
export interface JsonPiece {
  value: string;
  /** The paths in the nested JSON texts, separated by ` → `: `body → results[2].description`. */
  path: string;
  token: JsonToken;
}

export interface JsonStrings {
  json: JsonText;
  pieces: JsonPiece[];
  /** The parsed value, unless it is too deep. */
  value?: unknown;
}

/**
 * Reads the strings of a JSON object, array or string: all values, keys that may be prose, and on demand numbers with seven or more
 * digits, such as card numbers. Empty strings are left out. The time is linear in the length of the text, for any depth.
 *
 * @returns undefined if the text is not such JSON.
 */
export function readJson(text: string, withNumbers: boolean): JsonStrings | undefined {
  const pieces: JsonPiece[] = [];
  const read = readLevel(text, { withNumbers, pieces, before: "", level: 0 });
  if (!read) return;
  const { json, value, depth } = read;
  return { json, pieces, ...(depth <= MAX_VALUE_DEPTH ? { value } : {}) };
}

interface Level {
  withNumbers: boolean;
  pieces: JsonPiece[];
  /** The path of the enclosing string, with an arrow after it. */
  before: string;
  level: number;
}

/** An object or array that is open at the current token. */
interface Frame {
  isArray: boolean;
  path: string;
  index: number;
  /** The key of the next value; undefined if a key is next. */
  key?: string | undefined;
}

function readLevel(text: string, { withNumbers, pieces, before, level }: Level) {
  if (!/^\s*[[{"]/.test(text)) return;
  let value: unknown;
  try {
    // JSON.parse validates the text without recursion, so the tokens need no checks.
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
      level < MAX_NESTING
        ? readLevel(value, { withNumbers, pieces, before: `${before}${path} → `, level: level + 1 })
        : undefined;
    if (inner) token.inner = inner.json;
    else pieces.push({ value, path: before + path, token });
    json.tokens.push(token);
  };
  for (let kind: number = scanner.scan(); kind !== KIND.end; kind = scanner.scan()) {
    const frame = frames.at(-1);
    if (kind === KIND.openBrace || kind === KIND.openBracket) {
      const path = formatPath(frame, frames.length);
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
        if (isProse(string)) keep(string, `${formatPath(frame, frames.length)} (key)`);
      } else if (string !== "") {
        keep(string, formatPath(frame, frames.length) || "$");
      }
    } else if (kind === KIND.number && withNumbers && isLongNumber(scanner.getTokenValue())) {
      keep(scanner.getTokenValue(), formatPath(frame, frames.length));
    }
  }
  return { json, value, depth };
}

/** Formats the path of the next value in a frame. */
function formatPath(frame: Frame | undefined, depth: number): string {
  if (!frame) return "";
  if (depth > MAX_PATH_DEPTH) return frame.path.endsWith("…") ? frame.path : `${frame.path}…`;
  if (frame.isArray) return `${frame.path}[${frame.index}]`;
  const key = frame.key ?? "";
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) || key.length > MAX_KEY_LENGTH) {
    return `${frame.path}[${JSON.stringify(shortenKey(key))}]`;
  }
  return frame.path === "" ? key : `${frame.path}.${key}`;
}

/** Shortens a key for a path. */
export function shortenKey(key: string): string {
  return key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key;
}

/**
 * Whether a number may be a card, account or phone number: a whole number of seven or more digits, in any notation. Coordinates and
 * measurements have as many digits, but after a decimal point.
 */
export function isLongNumber(number: string): boolean {
  return (
    /^-?\d{7,}(?:\.0*)?$/.test(number) ||
    (/e/i.test(number) && Number.isInteger(Number(number)) && /(?:\d\D?){7}/.test(number))
  );
}

/** Returns a JSON text in which some tokens are replaced by strings. All other characters stay as they are. */
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
