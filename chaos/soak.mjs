// npm run soak [-- --quick]
// A million scans with rules and 20,000 with a model in one process: memory, files, handles and listeners must not grow.
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { describe, machineNow } from "../benches/machine.mjs";
import { printTable } from "../benches/table.mjs";
import { BanSubstrings, InvisibleText, PromptInjection, Regex, Secrets, scanPrompt } from "../dist/index.js";
import { open } from "./open.mjs";
import { BANNED, knownText } from "./texts.mjs";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const share = values.quick ? 0.1 : 1;
/** How many times it is looked. The first quarter is warm-up. */
const LOOKS = 40;
/** By how much the median of the last quarter may be above that of the second. */
const MAY_GROW = 0.05;
/** How many scans are under way at a time. */
const AT_A_TIME = 8;

function now() {
  return {
    ...open(),
    rss: process.memoryUsage.rss() / 2 ** 20,
    descriptors: process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0,
  };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Scans so many texts, and looks at the process meanwhile. @returns whether nothing grew. */
async function soak(name, scans, scanners, withModel) {
  const looks = [];
  const start = performance.now();
  let wrong = 0;
  for (let look = 0; look < LOOKS; look++) {
    let left = Math.round(scans / LOOKS);
    const one = async () => {
      while (left-- > 0) {
        const { text, failing } = knownText(withModel);
        // A signal that outlives many scans collects listeners if they stay.
        const { isValid } = await scanPrompt(scanners, text, { signal: lasting.signal });
        if (isValid !== (failing === undefined)) wrong++;
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, one));
    looks.push({ seconds: (performance.now() - start) / 1000, ...now() });
  }
  console.log(`\n${name}: ${scans} scans`);
  const columns = ["seconds", "rss", "heap", "descriptors", "handles", "listeners"];
  printTable(
    columns,
    looks.filter((_, index) => index % 2 === 1).map((look) => columns.map((column) => look[column].toFixed(0))),
  );
  const quarter = LOOKS / 4;
  const grown = (column) => {
    const of = (from) => median(looks.slice(from * quarter, (from + 1) * quarter).map((look) => look[column]));
    return [of(1), of(3)];
  };
  const checks = [
    ["every verdict is right", wrong === 0, `${wrong} wrong`],
    ...["rss", "descriptors", "handles", "listeners"].map((column) => {
      const [before, after] = grown(column);
      const may = column === "rss" ? before * (1 + MAY_GROW) : before;
      return [
        `${column} does not grow`,
        after <= may,
        `${before.toFixed(0)} in the second quarter, ${after.toFixed(0)} in the last`,
      ];
    }),
  ];
  for (const [promise, isKept, seen] of checks) console.log(`  ${isKept ? "kept  " : "BROKEN"}  ${promise}: ${seen}`);
  return checks.every(([, isKept]) => isKept);
}

console.log(describe(machineNow()));
const lasting = new AbortController();
const rules = [
  new Secrets(),
  new BanSubstrings({ substrings: [BANNED], matchType: "str" }),
  new Regex({ patterns: ["forbidden-\\d+"] }),
  new InvisibleText(),
];
const model = new PromptInjection();
await model.load?.();
const isFlat = [
  await soak("rules", 1_000_000 * share, rules, false),
  await soak("model", 20_000 * share, [...rules, model], true),
].every(Boolean);
console.log(isFlat ? "\nflat" : "\nnot flat");
process.exit(isFlat ? 0 : 1);
