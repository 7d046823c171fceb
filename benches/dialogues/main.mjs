// npm run eval:dialogues [-- --quick]: how many of the synthetic dialogues in this folder PromptInjection flags in the setup of the default
// server (a window of 3 user messages), and what each additional check adds. Every conversation is scanned at each of its turns.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { assembledTexts } from "../../dist/conversation/assembled-texts.js";
import { ConversationRisk } from "../../dist/index.js";
import { PromptInjection } from "../../dist/scanners/generated/input-scanners.js";
import { saveResults } from "../results.mjs";
import { printTable } from "../table.mjs";
import { toolWindow } from "./tool-window.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const dialogues = ["attacks", "harmless"].flatMap((name) =>
  readFileSync(new URL(`${name}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)),
);
/** The quick form takes every 40th dialogue. */
const STEP = flags.quick ? 40 : 1;
const WINDOW = 3;
/** Maximum lengths of joined tool results, in UTF-16 code units. */
const JOINED_LENGTHS = [300, 1000, 3000];
/** Weights of the scores of tool results in the accumulated risk, relative to those of user messages. */
const TOOL_WEIGHTS = [0.25, 0.5, 1];

const scanner = new PromptInjection();
const verdicts = new Map();
/** Scans a text once and remembers the verdict. */
function verdictOf(text) {
  if (!verdicts.has(text)) verdicts.set(text, scanner.scan(text));
  return verdicts.get(text);
}
const anyFails = async (texts) => {
  for (const text of texts) if (!(await verdictOf(text)).isValid) return true;
  return false;
};
const risk = ConversationRisk.fromScanner(scanner);
const probabilityOf = async (text) => (await verdictOf(text)).probability ?? 0;

/** Which checks fail for a conversation that ends here. */
async function failedChecks(messages) {
  const texts = (role) => messages.filter((message) => message.role === role).map(({ content }) => content);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const users = texts("user");
  const tools = messages
    .slice(lastUser)
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
  const window = users.slice(-WINDOW);
  let userRisk = 0;
  for (const [index, text] of users.entries()) {
    const score = await probabilityOf(text);
    if (score >= risk.minScore) userRisk += score * risk.decay ** (users.length - 1 - index);
  }
  let toolRisk = 0;
  for (const text of tools) {
    const score = await probabilityOf(text);
    if (score >= risk.minScore) toolRisk += score;
  }
  const failed = {
    message: await anyFails(users.slice(-1)),
    window: await anyFails([window.join("\n")]),
    tool: await anyFails(tools),
    risk: userRisk >= risk.threshold,
    assembled: await anyFails([...assembledTexts(window), ...assembledTexts(tools)]),
  };
  for (const weight of TOOL_WEIGHTS) failed[`tool risk ${weight}`] = userRisk + weight * toolRisk >= risk.threshold;
  for (const length of JOINED_LENGTHS) {
    failed[`tools ${length}`] = await anyFails([toolWindow(tools, length)].filter(Boolean));
  }
  return failed;
}

const results = [];
for (const dialogue of dialogues.filter((_, index) => index % STEP === 0)) {
  const failed = {};
  for (const [index, { role }] of dialogue.messages.entries()) {
    // The model is called before each of its answers, and with the whole dialogue.
    const next = dialogue.messages[index + 1];
    if (role === "assistant" || (next !== undefined && next.role !== "assistant")) continue;
    const checks = await failedChecks(dialogue.messages.slice(0, index + 1));
    for (const [name, hasFailed] of Object.entries(checks)) failed[name] ||= hasFailed;
  }
  results.push({ ...dialogue, failed });
}
await scanner.close();

const base = ({ failed }) => failed.message || failed.window || failed.tool;
const columns = {
  "without risk": base,
  "with risk": (row) => base(row) || row.failed.risk,
  "and assembled": (row) => base(row) || row.failed.risk || row.failed.assembled,
  ...Object.fromEntries(
    [...JOINED_LENGTHS.map((n) => `tools ${n}`), ...TOOL_WEIGHTS.map((n) => `tool risk ${n}`)].map((name) => [
      name,
      (row) => base(row) || row.failed.risk || row.failed[name],
    ]),
  ),
  all: (row) => base(row) || row.failed.risk || row.failed.assembled || row.failed["tools 1000"],
};
const percent = (isFlagged, of) =>
  of.length === 0 ? "" : ((100 * of.filter(isFlagged).length) / of.length).toFixed(1);
const figures = [];
for (const label of ["attack", "harmless"]) {
  const labelled = results.filter((row) => row.label === label);
  for (const [kind, of] of [...groupByKind(labelled), ["all", labelled]]) {
    const shares = Object.values(columns).map((isFlagged) => percent(isFlagged, of));
    figures.push([label, kind, String(of.length), ...shares]);
  }
}
console.log(`Conversations flagged, in percent, of ${results.length}:`);
printTable(["label", "kind", "conversations", ...Object.keys(columns)], figures);
const planted = results.filter(({ tone }) => tone);
console.log();
printTable(
  ["orders in tool results", "planted", "found, %"],
  ["polite", "rude"].map((tone) => {
    const of = planted.filter((row) => row.tone === tone);
    return [tone, String(of.length), percent((row) => row.failed.tool, of)];
  }),
);
const falsePositives = results
  .filter((row) => row.label === "harmless" && columns.all(row))
  .map(({ id, failed }) => ({ id, failed }));
saveResults("dialogues", { quick: flags.quick, figures, falsePositives });

function groupByKind(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(row.kind, [...(groups.get(row.kind) ?? []), row]);
  return groups;
}
