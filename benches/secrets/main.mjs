// npm run eval:secrets [-- --quick]: how many lines with a secret the scanner Secrets finds, and how many lines without one it flags, in the
// development set of sample.mjs. `--against CHECKOUT` adds another built version, `--misses` prints the lines that it judges wrongly.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { saveResults } from "../results.mjs";
import { printTable } from "../table.mjs";
import { makeLines } from "./sample.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    against: { type: "string" },
    misses: { type: "boolean", default: false },
  },
});
const lines = makeLines(Number(flags.seed), flags.quick ? 200 : 2_000);

/** Returns the lines that the version in a folder flags. */
async function flagged(folder) {
  const { createScanner, scanPrompt } = await import(pathToFileURL(resolve(folder, "dist/index.js")).href);
  const scanner = await createScanner("input", "Secrets", {});
  const found = new Set();
  for (const line of lines) if (!(await scanPrompt([scanner], line.text)).isValid) found.add(line);
  return found;
}

const here = resolve(import.meta.dirname, "../..");
const versions = { now: await flagged(here), ...(flags.against ? { before: await flagged(flags.against) } : {}) };
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const kinds = [...new Set(lines.map(({ kind, isSecret }) => `${isSecret ? "found" : "flagged"}: ${kind}`))].sort();
const results = {};
for (const [name, found] of Object.entries(versions)) {
  results[name] = {};
  for (const kind of [...kinds, "found: all", "flagged: all"]) {
    const isSecret = kind.startsWith("found");
    const only = kind.slice(kind.indexOf(":") + 2);
    const rows = lines.filter((line) => line.isSecret === isSecret && (only === "all" || line.kind === only));
    results[name][kind] = percent(rows.filter((line) => found.has(line)).length, rows.length);
  }
}
printTable(
  ["lines", ...Object.keys(versions)],
  [...kinds, "found: all", "flagged: all"].map((kind) => [
    kind,
    ...Object.values(results).map((figures) => figures[kind]),
  ]),
);
if (flags.misses)
  for (const line of lines)
    if (versions.now.has(line) !== line.isSecret)
      console.log(line.isSecret ? "missed" : "flagged", JSON.stringify(line.text));
saveResults("secrets", { seed: flags.seed, lines: lines.length, results });
