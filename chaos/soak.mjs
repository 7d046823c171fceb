// npm run soak [-- --quick]: runs a million scans with rules and 20,000 with a model in one process, and checks that memory, files, handles
// and listeners do not grow. The quick form runs a tenth, which is too short to judge resident memory: one step of V8's heap exceeds the limit.
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "../benches/machine.mjs";
import { printTable } from "../benches/table.mjs";
import { scanPrompt } from "../dist/index.js";
import {
  BanSubstrings,
  InvisibleText,
  PromptInjection,
  Regex,
  Secrets,
} from "../dist/scanners/generated/input-scanners.js";
import { openResources } from "./open-resources.mjs";
import { BANNED, labelledText } from "./texts.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const share = flags.quick ? 0.1 : 1;
/** The number of samples of the process. The first quarter is a warm-up. */
const SAMPLES = 40;
/** The maximum growth of the median from the second to the last quarter. */
const MAX_GROWTH = 0.05;
const CONCURRENCY = 8;

function sampleProcess() {
  return {
    ...openResources(),
    rss: process.memoryUsage.rss() / 2 ** 20,
    descriptors: process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0,
  };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Scans texts while sampling the process. @returns whether nothing grew. */
async function soak(name, scans, scanners, withModel) {
  const samples = [];
  const start = performance.now();
  let wrong = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    let left = Math.round(scans / SAMPLES);
    const scanRemaining = async () => {
      while (left-- > 0) {
        const { text, failingScanner } = labelledText(withModel);
        // A signal that outlives many scans reveals listeners that are not removed.
        const { isValid } = await scanPrompt(scanners, text, { signal: longLived.signal });
        if (isValid !== (failingScanner === undefined)) wrong++;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, scanRemaining));
    samples.push({ ms: performance.now() - start, ...sampleProcess() });
  }
  console.log(`\n${name}: ${scans} scans`);
  const columns = ["ms", "rss", "heap", "descriptors", "handles", "listeners"];
  printTable(
    columns,
    samples.filter((_, index) => index % 2 === 1).map((sample) => columns.map((column) => sample[column].toFixed(0))),
  );
  const quarter = SAMPLES / 4;
  const mediansOf = (column) => {
    const medianOfQuarter = (index) =>
      median(samples.slice(index * quarter, (index + 1) * quarter).map((sample) => sample[column]));
    return [medianOfQuarter(1), medianOfQuarter(3)];
  };
  const checks = [
    ["every verdict is correct", wrong === 0, `${wrong} wrong`],
    ...[...(flags.quick ? [] : ["rss"]), "descriptors", "handles", "listeners"].map((column) => {
      const [before, after] = mediansOf(column);
      const limit = column === "rss" ? before * (1 + MAX_GROWTH) : before;
      return [
        `${column} does not grow`,
        after <= limit,
        `${before.toFixed(0)} in the second quarter, ${after.toFixed(0)} in the last`,
      ];
    }),
  ];
  for (const [promise, isKept, observed] of checks) {
    console.log(`  ${isKept ? "kept  " : "BROKEN"}  ${promise}: ${observed}`);
  }
  return checks.every(([, isKept]) => isKept);
}

console.log(formatMachine(machineInfo()));
const longLived = new AbortController();
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
