import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { expect, it } from "vitest";
import { root } from "./markdown.ts";

/** A longer function has more than one job, or holds a table that belongs outside of it. */
const MAX_LINES = 60;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** A node of a syntax tree (ESTree), with its offsets in the source. */
interface Node {
  type: string;
  start: number;
  end: number;
}

function* nodesIn(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if (typeof (value as Partial<Node>).type === "string") yield value as Node;
  for (const child of Object.values(value)) yield* nodesIn(child);
}

it("functions of src/ have at most 60 lines", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.includes("generated"),
  );
  expect(files.length).toBeGreaterThan(400);
  const long = files.flatMap((file) => {
    const text = readFileSync(join(root, "src", file), "utf8");
    const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;
    return [...nodesIn(parseAst(text, { lang: "ts" }))].flatMap(({ type, start, end }) => {
      if (!FUNCTIONS.has(type)) return [];
      const lines = text.slice(start, end).split("\n").length;
      return lines > MAX_LINES ? [`${file}:${lineOf(start)}: ${lines} lines`] : [];
    });
  });
  expect(long).toEqual([]);
});
