import { Problem } from "../../http-server/problem.ts";
import { isRecord } from "../../support/is-record.ts";
import type { JsonLines } from "./json-lines.ts";

/** One step of an answer that a client hands in. */
export interface AnswerLine {
  text?: string;
  /** Whether what may be given out is asked for although nothing new has come. */
  flush?: boolean;
  /** Whether the answer ends here. */
  end?: boolean;
}

/** Where the pieces of an answer come from. */
export interface AnswerLines {
  next(): Promise<AnswerLine>;
  close(): void;
}

/** The pieces of an answer that are in lines of a body. The end of the body is the end of the answer. */
export function linesOf(lines: JsonLines): AnswerLines {
  return {
    async next() {
      const line = await lines.next();
      return line ? answerLine(line.value) : { end: true };
    },
    close: () => lines.close(),
  };
}

/** The pieces of an answer that is there as a whole. */
export function piecesOf(pieces: readonly string[]): AnswerLines {
  let next = 0;
  return {
    async next() {
      const text = pieces[next++];
      return text === undefined ? { end: true } : { text };
    },
    close() {},
  };
}

function answerLine(value: unknown): AnswerLine {
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
