import { GuardValidationError } from "../support/errors.ts";
import type { KeyPath, RequestReader, TextDraft } from "./request-reader.ts";

/** A part of content whose type is a string. */
export interface RawPart {
  type: string;
  [key: string]: unknown;
}

/** The context in which a part or content is read. */
export interface PartContext {
  reader: RequestReader;
  /** The text that the part belongs to: that of its message, or of the tool result around it. */
  draft: TextDraft;
  /** The index of the message, if there is one. */
  message: number | undefined;
  /** The path of the part or content in the request. */
  keys: KeyPath;
  /** How many tool results and documents enclose it. */
  depth: number;
  /** Reads content inside the part. */
  readContent(content: unknown, context: PartContext): void;
  /** Reads a part inside the part. */
  readPart(part: RawPart, context: PartContext): void;
  /** Whether a value is a part with a reader of its own. */
  isKnownPart(value: unknown): value is RawPart;
}

/** Reads a part of one type. */
export type PartReader = (part: RawPart, context: PartContext) => void;

/** Returns the error for an invalid value. */
export function invalidAt(keys: KeyPath, message: string): GuardValidationError {
  return new GuardValidationError([{ path: keys.join("."), message }]);
}

/**
 * Returns the text for data that the message's author did not write, such as a document. Inside a tool result, that is the text of the
 * result. Elsewhere it is a text of its own with the source `tool`.
 */
export function openDataDraft(context: PartContext, toolName?: string): TextDraft {
  if (context.draft.source === "tool") return context.draft;
  return context.reader.open(context.keys, { source: "tool", message: context.message, toolName });
}

/**
 * Returns the string at a key of an object, or undefined if there is none.
 *
 * @param path the path of the object.
 * @throws GuardValidationError for a value of another type, because a model server may read it.
 */
export function stringAt(holder: Readonly<Record<string, unknown>>, key: string, path: KeyPath): string | undefined {
  const value = holder[key];
  if (value === undefined || value === null) return;
  if (typeof value !== "string") throw invalidAt([...path, key], "expected a string");
  return value;
}

/**
 * Adds the strings at the keys of an object to a text.
 *
 * @param path the path of the object.
 * @throws GuardValidationError for a value of another type.
 */
export function addStrings(
  draft: TextDraft,
  holder: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  path: KeyPath,
): void {
  for (const key of keys) {
    const text = stringAt(holder, key, path);
    if (text !== undefined) draft.add(text, [...path, key]);
  }
}

/** Counts a part without text as skipped. */
export const skip: PartReader = (_, context) => {
  context.draft.skipped += 1;
};

/** Returns a reader of parts whose text is the string at `key`. */
export function textField(key: string): PartReader {
  return (part, context) => {
    const text = part[key];
    if (typeof text !== "string") throw invalidAt([...context.keys, key], "expected a string");
    context.draft.add(text, [...context.keys, key]);
  };
}
