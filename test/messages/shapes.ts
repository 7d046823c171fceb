import { readdirSync, readFileSync } from "node:fs";
import type { ChatRequest } from "../../src/scan/chat-request.ts";
import type { Source } from "../../src/scan/source.ts";

/** A shape of a message, part, item or tool, and what guard reads of it. docs/what-is-read.md shows all shapes. */
export interface Shape {
  /** The description, in Markdown. */
  shape: string;
  /** The file that contains it, named after the API. */
  api: string;
  request: ChatRequest;
  /** The strings that guard reads, each with the source and the path of its text. */
  texts: [source: Source, path: string, text: string][];
  /** The number of parts that count as skipped. */
  skipped: number;
  /** The reason why guard reads nothing and counts nothing as skipped. */
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
