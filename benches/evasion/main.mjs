// npm run eval:evasion: how many disguised attacks PromptInjection finds, and how many disguised harmless texts it flags, with and
// without the views of a text (the option deobfuscate). Prints a table and writes bench-results/evasion.json.
// `--data FILE` takes another file of JSON lines with `text` and `label` (injection, or anything else for harmless texts).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PromptInjection, scanConversation } from "../../dist/index.js";
import { printTable } from "../table.mjs";
import { measure } from "./measure.mjs";
import { TRANSFORMS } from "./transforms.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values: flags } = parseArgs({
  options: {
    data: { type: "string", default: here("sample.jsonl") },
    only: { type: "string", multiple: true, default: Object.keys(TRANSFORMS) },
    params: { type: "string", default: "{}" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const unknown = flags.only.find((name) => !Object.hasOwn(TRANSFORMS, name));
if (unknown) throw new Error(`no transform ${unknown}; there are: ${Object.keys(TRANSFORMS).join(", ")}`);

const rows = readFileSync(flags.data, "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => JSON.parse(line));
const params = JSON.parse(flags.params);
const scanners = {
  plain: new PromptInjection({ ...params, deobfuscate: false }),
  deobfuscate: new PromptInjection({ ...params, deobfuscate: true }),
};
const total = rows.length * flags.only.length;
let done = 0;
const onText = () => {
  done += 1;
  if (process.stderr.isTTY && done % 10 === 0) process.stderr.write(`\r${Math.floor((100 * done) / total)} %\x1b[K`);
};
const results = await measure({
  rows,
  scanners,
  scanConversation,
  names: flags.only,
  seed: Number(flags.seed),
  onText,
});
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
await Promise.all(Object.values(scanners).map((scanner) => scanner.close()));

const mean = (key, name) => results.reduce((sum, result) => sum + (result[key][name] || 0), 0) / results.length;
const both = (key) => Object.fromEntries(Object.keys(scanners).map((name) => [name, mean(key, name)]));
const report = { data: flags.data, params, seed: Number(flags.seed), results };
report.mean = { recall: both("recall"), falsePositives: both("falsePositives") };
mkdirSync(here("../../bench-results"), { recursive: true });
writeFileSync(here("../../bench-results/evasion.json"), `${JSON.stringify(report, null, 2)}\n`);

if (flags.json) console.log(JSON.stringify(report, null, 2));
else {
  const percent = (value) => (Number.isFinite(value) ? (value * 100).toFixed(1) : "");
  const cells = ({ recall, falsePositives }) =>
    [recall.plain, recall.deobfuscate, falsePositives.plain, falsePositives.deobfuscate].map(percent);
  printTable(
    ["%", "attacks", "recall", "deobfuscate", "benign", "flagged", "deobfuscate"],
    [...results, { transform: "mean", ...report.mean }].map((result) => {
      const [recall, found, flagged, others] = cells(result);
      const count = (value) => String(value ?? "");
      return [result.transform, count(result.attacks), recall, found, count(result.benign), flagged, others];
    }),
  );
}
