import type { MessageText, ToolCall, ToolDefinition } from "../scan/conversation-text.ts";
import type { Source } from "../scan/source.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { shortenPath } from "../support/shorten-path.ts";
import { isLongNumber, type JsonText, type JsonToken, readJson, shortKey } from "./json-strings.ts";
import { isProse } from "./names.ts";

/** Keys and indexes that lead from the request to a value. */
export type Keys = readonly (string | number)[];

/** A string, number or key of the request, which is read as one piece, or as several where it is JSON. */
export interface Slot {
  keys: Keys;
  /** Whether the piece is the last of the keys, and not the value below it. */
  isKey?: boolean;
  json?: JsonText;
  /** Turns the text back into the form that stands in the request, such as base64. */
  encode?: (text: string) => string;
}

/** A piece of a text, and where it stands. */
export interface PlacedPiece {
  value: string;
  path: string;
  slot: Slot;
  token?: JsonToken;
}

/** How deep objects and arrays may be nested that stand in a request, other than the messages and parts themselves. */
export const DEEPEST_VALUE = 100;

export interface DraftFields {
  source: Source;
  message?: number | undefined;
  isBeside?: boolean;
  toolCall?: ToolCall;
  toolDefinition?: ToolDefinition;
  toolName?: string | undefined;
}

/** A text that is being read. */
export class Draft {
  readonly pieces: PlacedPiece[] = [];
  /** The number of parts that cannot be read. */
  skipped = 0;
  /** Whether the text is handed on also where it has no pieces. */
  keep = false;
  readonly keys: Keys;
  readonly fields: DraftFields;

  constructor(keys: Keys, fields: DraftFields) {
    this.keys = keys;
    this.fields = fields;
  }

  get source(): Source {
    return this.fields.source;
  }

  /**
   * Adds a string. In what tools and models write for programs, a string that is JSON is read as its strings; what users and models say
   * is never taken apart.
   *
   * @returns the parsed JSON, where the string is JSON.
   */
  add(value: string, keys: Keys, encode?: (text: string) => string): unknown {
    const path = pathOf(keys);
    const slot: Slot = { keys, ...(encode && { encode }) };
    const isData = this.source === "tool" || this.source === "tool_call";
    const read = isData ? readJson(value, this.source === "tool_call") : undefined;
    if (!read) {
      this.pieces.push({ value, path, slot });
      return;
    }
    slot.json = read.json;
    for (const piece of read.pieces) {
      this.pieces.push({ value: piece.value, path: shortenPath(`${path} → ${piece.path}`), slot, token: piece.token });
    }
    return read.value;
  }

  /** Adds a key of an object, where it could be prose. */
  addKey(key: string, keys: Keys): void {
    if (!isProse(key)) return;
    this.pieces.push({ value: key, path: `${pathOf(keys)} (key)`, slot: { keys, isKey: true } });
  }

  /**
   * Adds all strings of a value, however deep, with keys that could be prose and, in the arguments of a tool call, long numbers.
   *
   * @param isRead decides which strings are left out.
   */
  addAll(value: unknown, keys: Keys, isRead: (value: string, keys: Keys) => boolean = () => true): void {
    const walk = (value: unknown, at: Keys): void => {
      if (at.length - keys.length > DEEPEST_VALUE) {
        throw new GuardValidationError([
          { path: keys.join("."), message: `expected no more than ${DEEPEST_VALUE} levels of objects and arrays` },
        ]);
      }
      if (typeof value === "string") {
        if (value !== "" && isRead(value, at)) this.add(value, at);
      } else if (typeof value === "number" || typeof value === "bigint") {
        const number = String(value);
        if (this.source === "tool_call" && isLongNumber(number)) {
          this.pieces.push({ value: number, path: pathOf(at), slot: { keys: at } });
        }
      } else if (Array.isArray(value)) {
        for (const [index, item] of value.entries()) walk(item, [...at, index]);
      } else if (isRecord(value)) {
        for (const [key, item] of Object.entries(value)) {
          this.addKey(key, [...at, key]);
          walk(item, [...at, key]);
        }
      }
    };
    walk(value, keys);
  }

  /** The finished text. */
  finish(): MessageText {
    const { message, isBeside, toolCall, toolDefinition, toolName, source } = this.fields;
    let start = 0;
    const pieces = this.pieces.map(({ value, path }) => {
      const piece = { start, end: start + value.length, path };
      start = piece.end + 1;
      return piece;
    });
    return {
      source,
      ...(message !== undefined && { message }),
      path: pathOf(this.keys),
      text: this.pieces.map(({ value }) => value).join("\n"),
      pieces,
      skipped: this.skipped,
      ...(isBeside && { isBeside }),
      ...(toolCall && { toolCall }),
      ...(toolDefinition && { toolDefinition }),
      ...(toolName !== undefined && { toolName }),
    };
  }
}

/** A path as findings show it. */
function pathOf(keys: Keys): string {
  return shortenPath(keys.map((key) => (typeof key === "string" ? shortKey(key) : key)).join("/"));
}

/** The texts of a request that have been read so far. */
export class Reading {
  readonly drafts: Draft[] = [];
  /** The names of the tools that were called, by the ids of the calls. */
  readonly calls = new Map<string, string>();
  /** The names of the tools that are defined. */
  readonly tools = new Set<string>();

  open(keys: Keys, fields: DraftFields): Draft {
    const draft = new Draft(keys, fields);
    this.drafts.push(draft);
    return draft;
  }

  /** Opens a text beside the content of a message. */
  aside(keys: Keys, source: Source, message: number | undefined): Draft {
    return this.open(keys, { source, message, isBeside: true });
  }
}
