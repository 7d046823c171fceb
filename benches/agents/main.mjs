// npm run eval:dialogues: how many of the made dialogues in benches/dialogues the scanner PromptInjection finds, as the default server
// uses it (a window of 3 user messages), with what each further check adds, and how many harmless ones it flags. Every conversation
// is judged at each of its turns. Prints Markdown and writes bench-results/dialogues.json.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { assembled } from "../../dist/conversation/assembled.js";
import { ConversationRisk, PromptInjection } from "../../dist/index.js";
import { printTable } from "../table.mjs";
import { toolWindow } from "./tool-window.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const rows = ["attacks", "harmless"].flatMap((name) =>
  readFileSync(here(`../dialogues/${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)),
);
const WINDOW = 3;
/** How long joined tool results may be, in UTF-16 code units. */
const JOINED = [300, 1000, 3000];
/** What the scores of tool results weigh beside those of users in the accumulated risk. */
const WEIGHTS = [0.25, 0.5, 1];

const scanner = new PromptInjection();
const known = new Map();
/** Judges a text, each only once. */
function judge(text) {
  if (!known.has(text)) known.set(text, scanner.scan(text));
  return known.get(text);
}
const fails = async (texts) => {
  for (const text of texts) if (!(await judge(text)).isValid) return true;
  return false;
};
const risk = ConversationRisk.fromScanner(scanner);
const probability = async (text) => (await judge(text)).probability ?? 0;

/** What each check says of a conversation that ends here. */
async function checks(messages) {
  const texts = (role) => messages.filter((message) => message.role === role).map(({ content }) => content);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const users = texts("user");
  const tools = messages
    .slice(lastUser)
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
  const window = users.slice(-WINDOW);
  let total = 0;
  for (const [index, text] of users.entries()) {
    const score = await probability(text);
    if (score >= risk.minScore) total += score * risk.decay ** (users.length - 1 - index);
  }
  let ofTools = 0;
  for (const text of tools) {
    const score = await probability(text);
    if (score >= risk.minScore) ofTools += score;
  }
  const flags = {
    message: await fails(users.slice(-1)),
    window: await fails([window.join("\n")]),
    tool: await fails(tools),
    risk: total >= risk.threshold,
    assembled: await fails([...assembled(window), ...assembled(tools)]),
  };
  for (const weight of WEIGHTS) flags[`tool risk ${weight}`] = total + weight * ofTools >= risk.threshold;
  for (const longest of JOINED) flags[`tools ${longest}`] = await fails([toolWindow(tools, longest)].filter(Boolean));
  return flags;
}

const results = [];
for (const row of rows) {
  const flags = {};
  for (const [index, { role }] of row.messages.entries()) {
    // A call is made when the model is about to read something: before each of its answers.
    const isLast = row.messages[index + 1] === undefined || row.messages[index + 1].role === "assistant";
    if (role === "assistant" || !isLast) continue;
    for (const [name, flag] of Object.entries(await checks(row.messages.slice(0, index + 1)))) flags[name] ||= flag;
  }
  results.push({ ...row, flags });
}
await scanner.close();

const base = ({ flags }) => flags.message || flags.window || flags.tool;
const columns = {
  "without risk": base,
  "with risk": (row) => base(row) || row.flags.risk,
  "and assembled": (row) => base(row) || row.flags.risk || row.flags.assembled,
  ...Object.fromEntries(
    [...JOINED.map((n) => `tools ${n}`), ...WEIGHTS.map((n) => `tool risk ${n}`)].map((name) => [
      name,
      (row) => base(row) || row.flags.risk || row.flags[name],
    ]),
  ),
  all: (row) => base(row) || row.flags.risk || row.flags.assembled || row.flags["tools 1000"],
};
const percent = (some, of) => (of.length === 0 ? "" : ((100 * of.filter(some).length) / of.length).toFixed(1));
const figures = [];
for (const label of ["attack", "harmless"]) {
  const labelled = results.filter((row) => row.label === label);
  const groups = [...(Map.groupBy?.(labelled, ({ kind }) => kind) ?? grouped(labelled))];
  for (const [kind, of] of [...groups, ["all", labelled]]) {
    figures.push([label, kind, String(of.length), ...Object.values(columns).map((flagged) => percent(flagged, of))]);
  }
}
printTable(["label", "kind", "conversations", ...Object.keys(columns)], figures);
const planted = results.filter(({ tone }) => tone);
console.log();
printTable(
  ["orders in tool results", "planted", "found, %"],
  ["polite", "rude"].map((tone) => {
    const of = planted.filter((row) => row.tone === tone);
    return [tone, String(of.length), percent((row) => row.flags.tool, of)];
  }),
);
mkdirSync(here("../../bench-results"), { recursive: true });
const flagged = results
  .filter((row) => row.label === "harmless" && columns.all(row))
  .map(({ id, flags }) => ({ id, flags }));
writeFileSync(here("../../bench-results/dialogues.json"), `${JSON.stringify({ figures, flagged }, null, 2)}\n`);

function grouped(list) {
  const groups = new Map();
  for (const row of list) groups.set(row.kind, [...(groups.get(row.kind) ?? []), row]);
  return groups;
}
