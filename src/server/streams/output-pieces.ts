import { Problem } from "../../http-server/problem.ts";
import { isRecord } from "../../support/is-record.ts";
import type { JsonLines } from "./json-lines.ts";

/** A step of an output that a client sends. */
export interface OutputPiece {
  text?: string;
  /** Requests the text that is held back. */
  flush?: boolean;
  /** Whether the output ends here. */
  end?: boolean;
}

export interface OutputPieces {
  next(): Promise<OutputPiece>;
  close(): void;
}

/** Returns the pieces in the lines of a body. The output ends with the body. */
export function piecesInLines(lines: JsonLines): OutputPieces {
  return {
    async next() {
      const line = await lines.next();
      return line ? parsePiece(line.value) : { end: true };
    },
    close: () => lines.close(),
  };
}

/** Returns the pieces of an output that has arrived as a whole. */
export function piecesOf(texts: readonly string[]): OutputPieces {
  let next = 0;
  return {
    async next() {
      const text = texts[next++];
      return text === undefined ? { end: true } : { text };
    },
    close() {},
  };
}

function parsePiece(value: unknown): OutputPiece {
  if (typeof value === "string") return { text: value };
  if (isRecord(value)) {
    const { text, flush, end } = value;
    if (typeof text === "string") return { text, ...(end === true ? { end } : {}) };
    if (text === undefined && end === true) return { end };
    if (text === undefined && flush === true) return { flush };
  }
  throw new Problem(422, "A line has the wrong shape.", {
    errors: [{ pointer: "", detail: 'must be {"text": "..."}, a text, {"flush": true} or {"end": true}' }],
  });
}
