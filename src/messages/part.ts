import { GuardValidationError } from "../support/errors.ts";
import type { Draft, Keys, Reading } from "./reading.ts";

/** A part of content whose type is known to be a string. */
export interface RawPart {
  type: string;
  [key: string]: unknown;
}

/** Where a part or content is read. */
export interface At {
  reading: Reading;
  /** The text to which the part belongs: that of its message, or of the tool result around it. */
  into: Draft;
  /** The index of the message, where it is in one. */
  message: number | undefined;
  /** Where the part or content stands in the request. */
  keys: Keys;
  /** How many tool results and documents are around it. */
  depth: number;
  /** Reads content that is inside the part. */
  content(content: unknown, at: At): void;
  /** Reads a part that is inside the part. */
  part(part: RawPart, at: At): void;
  /** Whether a value is a part of a known type. */
  isKnown(value: unknown): value is RawPart;
}

/** Reads a part of one type. */
export type PartReader = (part: RawPart, at: At) => void;

/** An error for the value at `keys`. */
export function fault(keys: Keys, message: string): GuardValidationError {
  return new GuardValidationError([{ path: keys.join("."), message }]);
}

/**
 * The text for data that came from elsewhere, such as a document: inside the result of a tool it belongs to that result, and elsewhere
 * it is a text of its own, so that it never counts as words of the message's author.
 */
export function dataDraft(at: At, toolName?: string): Draft {
  if (at.into.source === "tool") return at.into;
  return at.reading.open(at.keys, { source: "tool", message: at.message, toolName });
}

/** Reads a part without text. */
export const skip: PartReader = (_, at) => {
  at.into.skipped += 1;
};

/** Reads a part whose text is the string at `key`. */
export function textAt(key: string): PartReader {
  return (part, at) => {
    const text = part[key];
    if (typeof text !== "string") throw fault([...at.keys, key], "expected a string");
    at.into.add(text, [...at.keys, key]);
  };
}
