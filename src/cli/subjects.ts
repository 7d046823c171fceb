import type { ChatRequest } from "../scan/chat-request.ts";
import { SOURCES, type Source } from "../scan/source.ts";
import { isRecord } from "../support/is-record.ts";
import type { Subject } from "./suite.ts";

/** The options that apply to all lines of a file. */
export interface LineOptions {
  /** The prompt of all lines. With it, the lines are outputs. */
  outputOf?: string | undefined;
  /** The source of lines without one. */
  source?: Source | undefined;
}

/** A text as a prompt, or as an output with `outputOf`. */
export function subjectOf(text: string, { outputOf, source }: LineOptions = {}): Subject {
  return outputOf === undefined
    ? { kind: "prompt", text, ...(source ? { source } : {}) }
    : { kind: "output", prompt: outputOf, text };
}

/** @throws TypeError for invalid JSON. Unlike the parser's error, it does not quote the text, which may be private. */
export function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new TypeError("not JSON");
  }
}

/** The source of a line, if it is one of guard's. Files may use the key for something else. */
export function sourceOf({ source }: Record<string, unknown>): Pick<LineOptions, "source"> {
  const known = SOURCES.find((name) => name === source);
  return known ? { source: known } : {};
}

/** The `id` of a line, which is copied to its result. */
export function idOf(value: unknown): string | number | undefined {
  if (!isRecord(value)) return undefined;
  const { id } = value;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** @throws TypeError with the index of a document that is neither a string nor an object with a text. */
function readDocuments(documents: readonly unknown[]): (Subject & { kind: "documents" })["documents"] {
  return documents.map((document, index) => {
    const text = isRecord(document) ? document.text : document;
    if (typeof text !== "string") throw new TypeError(`documents.${index}: expected a string, or an object with text`);
    const id = idOf(document);
    return { text, ...(id === undefined ? {} : { id }) };
  });
}

/**
 * Reads the subject of a scan from a line of a file.
 *
 * @throws TypeError for an ambiguous line, such as one with text and prompt: one of the two would not be scanned.
 */
export function readSubject(value: unknown, options: LineOptions = {}): Subject {
  const { outputOf } = options;
  if (typeof value === "string") return subjectOf(value, options);
  if (!isRecord(value)) throw new TypeError("expected a string or an object");
  const { text, prompt, output, messages, documents } = value;
  const given = Object.entries({ text, prompt, output, messages, documents }).filter(([, item]) => item !== undefined);
  const names = given.map(([name]) => name).join(", ");
  for (const [name, item] of given) {
    const isList = name === "messages" || name === "documents";
    if (isList ? !Array.isArray(item) : typeof item !== "string") {
      throw new TypeError(`${name}: expected ${isList ? "an array" : "a string"}`);
    }
  }
  switch (names) {
    case "text":
      return subjectOf(text as string, { ...options, ...sourceOf(value) });
    case "prompt":
      if (outputOf !== undefined) break;
      return subjectOf(prompt as string, { ...options, ...sourceOf(value) });
    case "output":
      if (outputOf === undefined) break;
      return subjectOf(output as string, options);
    case "prompt, output":
      return subjectOf(output as string, { outputOf: prompt as string });
    case "messages":
      if (outputOf !== undefined) break;
      return { kind: "conversation", chat: { messages, tools: value.tools, system: value.system } as ChatRequest };
    case "documents": {
      if (outputOf !== undefined) break;
      const { source } = { ...options, ...sourceOf(value) };
      return { kind: "documents", documents: readDocuments(documents as unknown[]), ...(source ? { source } : {}) };
    }
  }
  const got = names || "none of them";
  throw new TypeError(
    `expected text, prompt, prompt and output, messages, or documents; got ${got}${outputOf === undefined ? "" : ", with --output-of"}`,
  );
}
