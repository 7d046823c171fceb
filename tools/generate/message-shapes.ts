import { readFileSync } from "node:fs";
import { ownFile } from "../../src/own-files.ts";

const PAGE = "docs/what-is-read.md";
const [BEGIN, END] = ["<!-- shapes: made by npm run generate -->\n", "<!-- end of shapes -->"];

/** The titles of the APIs, by the names of the files with their shapes in `test/messages/shapes`. */
const APIS = {
  "openai-chat": "OpenAI: chat completions",
  "openai-responses": "OpenAI: Responses",
  anthropic: "Anthropic: messages",
  gemini: "Google: generateContent",
  mcp: "MCP",
  "ai-sdk": "AI SDK: UI messages",
};

/** A shape of a message, and the texts that guard reads from it. See `test/messages/shapes.ts`. */
interface Shape {
  shape: string;
  texts: [source: string, path: string][];
  skipped: number;
  without?: string;
}

/** The path and the text of the page about message shapes, with its tables made from the shapes that the tests run. */
export function messageShapesPage(): [path: string, text: string] {
  const page = readFileSync(ownFile(PAGE), "utf8");
  const head = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  return [PAGE, `${head}\n${shapeTables()}\n${page.slice(page.indexOf(END))}`];
}

function shapeTables(): string {
  return Object.entries(APIS)
    .map(([file, title]) => {
      const shapes: Shape[] = JSON.parse(readFileSync(ownFile(`test/messages/shapes/${file}.json`), "utf8"));
      return `### ${title}\n\n| shape | read as | not read |\n| --- | --- | --- |\n${shapes.map(shapeRow).join("\n")}\n`;
    })
    .join("\n");
}

function shapeRow({ shape, texts, skipped, without }: Shape): string {
  const bySource = new Map<string, string[]>();
  for (const [source, path] of texts) bySource.set(source, [...(bySource.get(source) ?? []), `\`${path}\``]);
  const read = [...bySource].map(([source, paths]) => `**${source}**: ${paths.join(", ")}`).join("; ");
  const notRead = [...(skipped > 0 ? [`${skipped} skipped`] : []), ...(without ? [without] : [])].join("; ");
  return `| ${shape} | ${read} | ${notRead} |`;
}
