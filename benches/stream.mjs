// npm run bench:stream [-- --quick]
// What scanning an answer on its way costs: the time that the first text comes later, the time that a token waits, the time that
// the scan works for each token, and the memory for a long answer. Tokens come at the pace of a model, and as fast as they are taken.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Deanonymize, output, scanOutputStream, Vault } from "../dist/index.js";
import { describe, machineNow } from "./machine.mjs";
import { median, percentile } from "./stats.mjs";
import { number, printTable } from "./table.mjs";

const { values } = parseArgs({ options: { quick: { type: "boolean" } } });
const ANSWERS = readFileSync(new URL("haystacks/answers.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
/** The tokens of an answer, at four characters each, as is usual in English. */
const TOKENS = values.quick ? 150 : 400;
const ROUNDS = values.quick ? 1 : 3;
const PACES = values.quick ? [50, 0] : [20, 50, 0];
const VAULT = [["[REDACTED_PERSON_1]", "Ada Lovelace"]];

const rules = () => [
  ...[new Deanonymize(), new output.InvisibleText(), new output.Secrets()],
  ...[new output.Sensitive({ redact: true, recognizerConf: [] }), new output.DataExfiltration()],
  new output.Regex({ patterns: ["PROJECT-[A-Z]+"] }),
];
const LISTS = {
  Deanonymize: () => [new Deanonymize()],
  "Deanonymize, Secrets": () => [new Deanonymize(), new output.Secrets()],
  "six scanners by rules": rules,
  "rules and Toxicity, Bias, NoRefusal": () => [
    ...rules(),
    ...[new output.Toxicity(), new output.Bias(), new output.NoRefusal()],
  ],
  "rules and Sensitive with its model": () => [
    new Deanonymize(),
    new output.Secrets(),
    new output.Sensitive({ redact: true }),
  ],
};

const machine = machineNow();
console.log(describe(machine));
const results = [];
for (const [list, make] of Object.entries(LISTS)) {
  const scanners = make();
  for (const scanner of scanners) await scanner.load();
  await one(scanners, 0, 0);
  for (const pace of PACES) {
    const runs = [];
    for (let round = 0; round < ROUNDS; round++) runs.push(await one(scanners, pace, round));
    const all = (key) => median(runs.map((run) => run[key]));
    results.push({ list, pace, ...Object.fromEntries(Object.keys(runs[0]).map((key) => [key, all(key)])) });
  }
  for (const scanner of scanners) await scanner.close?.();
}
printTable(
  ["scanners", "tokens/s", "first text ms", "token waits ms", "p95 ms", "work/token ms", "end ms"],
  results.map(({ list, pace, first, waits, waitsMost, work, end }) => [
    ...[list, pace === 0 ? "all at once" : String(pace), number(first), number(waits), number(waitsMost)],
    ...[number(work), number(end)],
  ]),
);
const memory = await long();
console.log(
  `\nAn answer of ${memory.megabytes} MB: ${number(memory.seconds)} s, resident memory grew by ${number(memory.grew)} MB.`,
);
mkdirSync("bench-results", { recursive: true });
writeFileSync("bench-results/stream.json", JSON.stringify({ machine, results, memory }, null, 2));

function answer(seed, tokens) {
  let text = "Dear [REDACTED_PERSON_1], thank you. ";
  for (let at = seed; text.length < 4 * tokens; at++) text += `${ANSWERS[at % ANSWERS.length]} `;
  return Array.from({ length: tokens }, (_, at) => text.slice(4 * at, 4 * at + 4));
}

/** Scans one answer, and returns milliseconds: until the first text, how long tokens waited, and how long the scan itself took. */
async function one(scanners, pace, seed) {
  const tokens = answer(seed, TOKENS);
  const came = [];
  const begun = performance.now();
  async function* source() {
    for (const [at, token] of tokens.entries()) {
      if (pace > 0) await sleep(Math.max(0, begun + (at * 1000) / pace - performance.now()));
      came.push(performance.now());
      yield token;
    }
  }
  let [given, raw, first, ended] = ["", 0, undefined, 0];
  const waits = [];
  // The time that passes without waiting for the source is that of the scan.
  let asked = 0;
  let waited = 0;
  const timed = {
    [Symbol.asyncIterator]() {
      const pieces = source();
      return {
        async next() {
          asked = performance.now();
          const next = await pieces.next();
          waited += performance.now() - asked;
          ended = performance.now();
          return next;
        },
        return: () => pieces.return(),
      };
    },
  };
  const scanned = scanOutputStream(scanners, "Tell me more.", timed, {
    ...{ vault: new Vault(VAULT), masking: ["Secrets", "Sensitive"] },
  });
  for await (const text of scanned) {
    const now = performance.now();
    first ??= now - came[0];
    given += text;
    // The placeholder is as long as what stands for it, give or take a token.
    for (; raw < tokens.length && 4 * (raw + 1) <= given.length; raw++) waits.push(now - came[raw]);
  }
  const finished = performance.now();
  const { outcome } = await scanned.report;
  if (outcome === "blocked") throw new Error("a harmless answer was blocked");
  return {
    ...{ first, waits: median(waits), waitsMost: percentile(waits, 95) },
    ...{ work: (finished - begun - waited) / TOKENS, end: finished - ended },
  };
}

/** Scans an answer of 10 MB in tokens, and returns by how much the process grew. */
async function long() {
  const megabytes = values.quick ? 1 : 10;
  const block = answer(1, 20_000);
  function* source() {
    for (let length = 0; length < megabytes * 1e6; ) {
      for (const token of block) {
        length += token.length;
        yield token;
      }
    }
  }
  const scanners = [new Deanonymize(), new output.Secrets()];
  await one(scanners, 0, 0);
  const [before, begun] = [process.memoryUsage().rss, performance.now()];
  let most = 0;
  const scanned = scanOutputStream(scanners, "", source(), { vault: new Vault(VAULT), masking: ["Secrets"] });
  for await (const _ of scanned) most = Math.max(most, process.memoryUsage.rss());
  return { megabytes, seconds: (performance.now() - begun) / 1000, grew: (most - before) / 1e6 };
}
