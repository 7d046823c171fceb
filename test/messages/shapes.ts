import { readdirSync, readFileSync } from "node:fs";
import type { ChatRequest } from "../../src/scan/chat-request.ts";
import type { Source } from "../../src/scan/source.ts";

/** A shape of a message, part, item or tool, and what is read of it. docs/what-is-read.md shows all of them. */
export interface Shape {
  /** What it is, in Markdown. */
  shape: string;
  /** The file that has it, which is named after the API. */
  api: string;
  request: ChatRequest;
  /** The strings that are read, each with the source of its text and its path. */
  texts: [source: Source, path: string, text: string][];
  /** How many parts count as skipped. */
  skipped: number;
  /** Why nothing is read and nothing counts as skipped. */
  without?: string;
}

const folder = new URL("shapes/", import.meta.url);

/** All shapes that the reader knows. */
export const shapes: readonly Shape[] = readdirSync(folder).flatMap((file) =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")).map((shape: Omit<Shape, "api">) => ({
    ...shape,
    api: file.replace(".json", ""),
  })),
);
