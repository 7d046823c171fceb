// npm run eval:evasion [-- --quick]: how many disguised attacks PromptInjection finds, and how many disguised harmless texts it flags, with
// and without decoded views of the text (the option deobfuscate). `--data FILE` names another JSON Lines file with `text` and `label`
// (`injection` for attacks, anything else for harmless texts).
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { scanConversation } from "../../dist/index.js";
import { PromptInjection } from "../../dist/scanners/generated/input-scanners.js";
import { saveResults } from "../results.mjs";
import { printTable } from "../table.mjs";
import { measure } from "./measure.mjs";
import { TRANSFORMS } from "./transforms.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string", default: fileURLToPath(new URL("sample.jsonl", import.meta.url)) },
    only: { type: "string", multiple: true, default: Object.keys(TRANSFORMS) },
    params: { type: "string", default: "{}" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const unknown = flags.only.find((name) => !Object.hasOwn(TRANSFORMS, name));
if (unknown) throw new Error(`no transform ${unknown}; known are: ${Object.keys(TRANSFORMS).join(", ")}`);

const all = readFileSync(flags.data, "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => JSON.parse(line));
const isAttack = ({ label }) => label === "injection";
const rows = flags.quick ? [all.find(isAttack), all.find((row) => !isAttack(row))] : all;
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
const seed = Number(flags.seed);
const results = await measure({ rows, scanners, scanConversation, names: flags.only, seed, onText });
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
await Promise.all(Object.values(scanners).map((scanner) => scanner.close()));

const mean = (key, name) => results.reduce((sum, result) => sum + (result[key][name] || 0), 0) / results.length;
const means = (key) => Object.fromEntries(Object.keys(scanners).map((name) => [name, mean(key, name)]));
const report = { data: flags.data, params, seed, results };
report.mean = { recall: means("recall"), falsePositives: means("falsePositives") };
if (flags.json) console.log(JSON.stringify(report, null, 2));
else {
  printReport();
  saveResults("evasion", { quick: flags.quick, ...report });
}

function printReport() {
  const percent = (value) => (Number.isFinite(value) ? (value * 100).toFixed(1) : "");
  printTable(
    ["%", "attacks", "recall", "deobfuscate", "benign", "flagged", "deobfuscate"],
    [...results, { transform: "mean", ...report.mean }].map(
      ({ transform, attacks = "", benign = "", recall, falsePositives }) => [
        transform,
        ...[String(attacks), percent(recall.plain), percent(recall.deobfuscate)],
        ...[String(benign), percent(falsePositives.plain), percent(falsePositives.deobfuscate)],
      ],
    ),
  );
}
