import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const PAGE = "docs/what-is-read.md";

/** The titles of the APIs, keyed by the names of the files with their shapes. */
const APIS = {
  "openai-chat": "OpenAI: chat completions",
  "openai-responses": "OpenAI: Responses",
  anthropic: "Anthropic: messages",
  mcp: "MCP",
};

/**
 * Updates the tables of the page from the shapes that the tests of messages use.
 *
 * @returns {[string, string]} the path of the page, and its text.
 */
export function pageWithMessageTables() {
  const page = readFileSync(join(root, PAGE), "utf8");
  const begin = "<!-- shapes: made by npm run generate -->\n";
  const end = "<!-- end of shapes -->";
  const from = page.indexOf(begin) + begin.length;
  return [PAGE, `${page.slice(0, from)}\n${tables()}\n${page.slice(page.indexOf(end))}`];
}

function tables() {
  return Object.entries(APIS)
    .map(([file, title]) => {
      const shapes = JSON.parse(readFileSync(join(root, `test/messages/shapes/${file}.json`), "utf8"));
      return `### ${title}\n\n| shape | read as | not read |\n| --- | --- | --- |\n${shapes.map(row).join("\n")}\n`;
    })
    .join("\n");
}

function row({ shape, texts, skipped, without }) {
  const bySource = new Map();
  for (const [source, path] of texts) bySource.set(source, [...(bySource.get(source) ?? []), `\`${path}\``]);
  const read = [...bySource].map(([source, paths]) => `**${source}**: ${paths.join(", ")}`).join("; ");
  const notRead = [...(skipped > 0 ? [`${skipped} skipped`] : []), ...(without ? [without] : [])].join("; ");
  return `| ${shape} | ${read} | ${notRead} |`;
}
