import type { MessageText, ToolCall, ToolDefinition } from "../scan/conversation-text.ts";
import type { Source } from "../scan/source.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { shortenPath } from "../support/shorten-path.ts";
import { isLongNumber, type JsonText, type JsonToken, readJson, shortenKey } from "./json-strings.ts";
import { isProse } from "./text-checks.ts";

/** The keys and indexes that lead from the request to a value. */
export type KeyPath = readonly (string | number)[];

/** A string, number or key of the request. It is one piece of a text, or several if it is JSON. */
export interface Slot {
  keys: KeyPath;
  /** Whether the piece is the last key of `keys` and not its value. */
  isKey?: boolean;
  json?: JsonText;
  /** Encodes the text as in the request, for example as base64. */
  encode?: (text: string) => string;
}

/** A piece of a text and its slot in the request. */
export interface SlotPiece {
  value: string;
  path: string;
  slot: Slot;
  token?: JsonToken;
}

/** The maximum depth of objects and arrays in a request, not counting the messages and parts themselves. */
export const MAX_VALUE_DEPTH = 100;

export interface TextFields {
  source: Source;
  message?: number | undefined;
  isBeside?: boolean;
  toolCall?: ToolCall;
  toolDefinition?: ToolDefinition;
  toolName?: string | undefined;
}

/** A text that is being assembled. */
export class TextDraft {
  readonly pieces: SlotPiece[] = [];
  /** The number of parts that cannot be read, such as images. */
  skipped = 0;
  /** Whether the text is kept even without pieces. */
  isKept = false;
  readonly keys: KeyPath;
  readonly fields: TextFields;

  constructor(keys: KeyPath, fields: TextFields) {
    this.keys = keys;
    this.fields = fields;
  }

  get source(): Source {
    return this.fields.source;
  }

  /**
   * Adds a string. A JSON string from a tool or in a tool call is split into its strings. Text of users and models is split only beside the
   * content, where it is data for programs.
   *
   * @returns the parsed value, if the string is JSON.
   */
  add(value: string, keys: KeyPath, encode?: (text: string) => string): unknown {
    const path = formatPath(keys);
    const slot: Slot = { keys, ...(encode && { encode }) };
    const isData = this.source === "tool" || this.source === "tool_call" || this.fields.isBeside === true;
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

  /** Adds a key of an object, if it may be prose. */
  addKey(key: string, keys: KeyPath): void {
    if (!isProse(key)) return;
    this.pieces.push({ value: key, path: `${formatPath(keys)} (key)`, slot: { keys, isKey: true } });
  }

  /**
   * Adds all strings of a value at any depth, keys that may be prose and, in the arguments of a tool call, long numbers.
   *
   * @param isRead selects the strings.
   */
  addAll(value: unknown, keys: KeyPath, isRead: (value: string, keys: KeyPath) => boolean = () => true): void {
    const walk = (value: unknown, path: KeyPath): void => {
      if (path.length - keys.length > MAX_VALUE_DEPTH) {
        throw new GuardValidationError([
          { path: keys.join("."), message: `expected no more than ${MAX_VALUE_DEPTH} levels of objects and arrays` },
        ]);
      }
      if (typeof value === "string") {
        if (value !== "" && isRead(value, path)) this.add(value, path);
      } else if (typeof value === "number" || typeof value === "bigint") {
        const number = String(value);
        if (this.source === "tool_call" && isLongNumber(number)) {
          this.pieces.push({ value: number, path: formatPath(path), slot: { keys: path } });
        }
      } else if (Array.isArray(value)) {
        for (const [index, item] of value.entries()) walk(item, [...path, index]);
      } else if (isRecord(value)) {
        for (const [key, item] of Object.entries(value)) {
          this.addKey(key, [...path, key]);
          walk(item, [...path, key]);
        }
      }
    };
    walk(value, keys);
  }

  /** Returns the finished text. */
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
      path: formatPath(this.keys),
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

/** The key of the fields in a `ChatRequest`. In the body of a request they are at the top, so paths of findings leave it out. */
export const FIELDS = "fields";

/** Formats a path for findings. */
function formatPath(keys: KeyPath): string {
  const shown = keys[0] === FIELDS ? keys.slice(1) : keys;
  return shortenPath(shown.map((key) => (typeof key === "string" ? shortenKey(key) : key)).join("/"));
}

/** Collects the texts of a request. */
export class RequestReader {
  readonly drafts: TextDraft[] = [];
  /** The names of called tools, by the ids of their calls. */
  readonly calls = new Map<string, string>();
  /** The names of defined tools. */
  readonly tools = new Set<string>();
  /** What the model reads that is not in the request: fields that refer to it, and types of tools that the provider runs. */
  readonly stateElsewhere = new Set<string>();

  open(keys: KeyPath, fields: TextFields): TextDraft {
    const draft = new TextDraft(keys, fields);
    this.drafts.push(draft);
    return draft;
  }

  /** Opens a text beside the content of a message, such as the name of its author. */
  openBeside(keys: KeyPath, source: Source, message: number | undefined): TextDraft {
    return this.open(keys, { source, message, isBeside: true });
  }
}
