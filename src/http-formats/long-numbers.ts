import { lazyPackage } from "../support/lazy-package.ts";

/** Loaded by the first text that could have long numbers. */
const parser = lazyPackage<typeof import("jsonc-parser")>("jsonc-parser");

/** A number of so many digits after what a value follows in JSON. Most bodies have none, and are not read once more. */
const COULD_BE_LONG = /[[:,\s]-?\d{16}/;

/**
 * The whole numbers of a JSON text that JavaScript cannot hold, as they are written, by their paths. RFC 8259, section 6, says that
 * numbers beyond 2^53 may lose digits; ids of other programs, such as those of messages, have more than that.
 */
export type LongNumbers = ReadonlyMap<string, string>;

/** Finds the long numbers of a JSON text. */
export function longNumbers(text: string): LongNumbers {
  const found = new Map<string, string>();
  if (!COULD_BE_LONG.test(text)) return found;
  eachNumber(text, (number, { start, end, path }) => {
    const raw = text.slice(start, end);
    if (/^-?\d{16,}$/.test(raw) && JSON.stringify(number) !== raw) found.set(path(), raw);
  });
  return found;
}

/** Writes a value as JSON, with the long numbers of the text that it was read from, where they still stand in their places. */
export function stringified(value: unknown, numbers: LongNumbers): string {
  const text = JSON.stringify(value);
  if (numbers.size === 0) return text;
  let written = "";
  let done = 0;
  eachNumber(text, (number, { start, end, path }) => {
    if (Number.isSafeInteger(number)) return;
    const raw = numbers.get(path());
    if (raw === undefined || Number(raw) !== number) return;
    written += text.slice(done, start) + raw;
    done = end;
  });
  return written + text.slice(done);
}

interface Place {
  start: number;
  end: number;
  /** The keys and indexes that lead to the number, as JSON. */
  path(): string;
}

function eachNumber(text: string, onNumber: (number: number, place: Place) => void): void {
  parser().visit(text, {
    onLiteralValue(value, start, length, _line, _character, pathOf) {
      if (typeof value !== "number") return;
      onNumber(value, { start, end: start + length, path: () => JSON.stringify(pathOf()) });
    },
  });
}
