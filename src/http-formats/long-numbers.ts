import { lazyPackage } from "../support/lazy-package.ts";

/** The parser is loaded by the first text that may have long numbers. */
const parser = lazyPackage<typeof import("jsonc-parser")>("jsonc-parser");

/** A long number at the start of a JSON value. Most bodies have none and are not parsed again. */
const MAY_BE_LONG = /[[:,\s]-?\d{16}/;

/**
 * The integers of a JSON text that JavaScript cannot represent, as they are written, by their paths. Numbers beyond 2^53 may lose digits
 * (RFC 8259, section 6), and ids of other programs are often larger.
 */
export type LongNumbers = ReadonlyMap<string, string>;

/** Finds the long numbers of a JSON text. */
export function findLongNumbers(text: string): LongNumbers {
  const found = new Map<string, string>();
  if (!MAY_BE_LONG.test(text)) return found;
  visitNumbers(text, (number, { start, end, path }) => {
    const raw = text.slice(start, end);
    if (/^-?\d{16,}$/.test(raw) && JSON.stringify(number) !== raw) found.set(path(), raw);
  });
  return found;
}

/** Serializes a value with the long numbers of its original text, where they still are at the same path. */
export function stringify(value: unknown, numbers: LongNumbers): string {
  const text = JSON.stringify(value);
  if (numbers.size === 0) return text;
  let written = "";
  let done = 0;
  visitNumbers(text, (number, { start, end, path }) => {
    if (Number.isSafeInteger(number)) return;
    const raw = numbers.get(path());
    if (raw === undefined || Number(raw) !== number) return;
    written += text.slice(done, start) + raw;
    done = end;
  });
  return written + text.slice(done);
}

interface NumberPosition {
  start: number;
  end: number;
  /** Returns the keys and indexes that lead to the number, as JSON. */
  path(): string;
}

function visitNumbers(text: string, onNumber: (number: number, position: NumberPosition) => void): void {
  parser().visit(text, {
    onLiteralValue(value, start, length, _line, _character, pathOf) {
      if (typeof value !== "number") return;
      onNumber(value, { start, end: start + length, path: () => JSON.stringify(pathOf()) });
    },
  });
}
