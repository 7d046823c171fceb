// npm run bench:stream [-- --quick]: what scanning a streamed answer costs: the delay of the first text, the delay of each token, the
// scan time per token, and the memory for a long answer. Tokens arrive at the pace of a model, and as fast as the scan accepts them.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { output, scanOutputStream, Vault } from "../dist/index.js";
import { Deanonymize } from "../dist/scanners/generated/output-scanners.js";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { median, percentile } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const ANSWERS = readFileSync(new URL("haystacks/answers.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
/** Tokens of an answer. */
const TOKENS = flags.quick ? 60 : 400;
/** The usual length of an English token. */
const TOKEN_CHARS = 4;
const ROUNDS = flags.quick ? 1 : 3;
/** Tokens per second; 0 means as fast as the scan accepts them. */
const PACES = flags.quick ? [50, 0] : [20, 50, 0];
const LONG_ANSWER_MB = flags.quick ? 1 : 10;
const VAULT = [["[REDACTED_PERSON_1]", "Ada Lovelace"]];

const rules = () => [
  ...[new Deanonymize(), new output.InvisibleText(), new output.Secrets()],
  ...[new output.Sensitive({ redact: true, recognizerConf: [] }), new output.DataExfiltration()],
  new output.Regex({ patterns: ["PROJECT-[A-Z]+"] }),
];
const LISTS = {
  Deanonymize: () => [new Deanonymize()],
  "Deanonymize, Secrets": () => [new Deanonymize(), new output.Secrets()],
  "six rule scanners": rules,
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

const machine = machineInfo();
console.log(formatMachine(machine));
const results = [];
for (const [list, create] of Object.entries(LISTS)) {
  const scanners = create();
  for (const scanner of scanners) await scanner.load();
  await scanAnswer(scanners, 0, 0);
  for (const pace of PACES) {
    const runs = [];
    for (let round = 0; round < ROUNDS; round++) runs.push(await scanAnswer(scanners, pace, round));
    const figures = Object.keys(runs[0]).map((key) => [key, median(runs.map((run) => run[key]))]);
    results.push({ list, pace, ...Object.fromEntries(figures) });
  }
  for (const scanner of scanners) await scanner.close?.();
}
printTable(
  ["scanners", "tokens/s", "first text ms", "token delay ms", "p95 ms", "scan/token ms", "end ms"],
  results.map(({ list, pace, first, delay, delayP95, scan, end }) => [
    list,
    pace === 0 ? "all at once" : String(pace),
    ...[first, delay, delayP95, scan, end].map(formatNumber),
  ]),
);
const memory = await scanLongAnswer();
console.log(
  `\nAn answer of ${memory.megabytes} MB: ${formatNumber(memory.ms)} ms, resident memory grew by ${formatNumber(memory.growthMb)} MB.`,
);
saveResults("stream", { quick: flags.quick, machine, results, memory });

function answerTokens(seed, count) {
  let text = "Dear [REDACTED_PERSON_1], thank you. ";
  for (let at = seed; text.length < TOKEN_CHARS * count; at++) text += `${ANSWERS[at % ANSWERS.length]} `;
  return Array.from({ length: count }, (_, at) => text.slice(TOKEN_CHARS * at, TOKEN_CHARS * (at + 1)));
}

/**
 * Scans one answer.
 *
 * @returns milliseconds: `first` until the first text, `delay` and `delayP95` of tokens, `scan` per token without waiting for the source,
 *   and `end` from the end of the source to the end of the scan.
 */
async function scanAnswer(scanners, pace, seed) {
  const tokens = answerTokens(seed, TOKENS);
  const arrivals = [];
  const start = performance.now();
  async function* source() {
    for (const [at, token] of tokens.entries()) {
      if (pace > 0) await sleep(Math.max(0, start + (at * 1000) / pace - performance.now()));
      arrivals.push(performance.now());
      yield token;
    }
  }
  const delays = [];
  let [released, delayed, first, sourceEnd, sourceMs] = ["", 0, undefined, 0, 0];
  const timedSource = {
    [Symbol.asyncIterator]() {
      const pieces = source();
      return {
        async next() {
          const asked = performance.now();
          const next = await pieces.next();
          sourceEnd = performance.now();
          sourceMs += sourceEnd - asked;
          return next;
        },
        return: () => pieces.return(),
      };
    },
  };
  const scanned = scanOutputStream(scanners, "Tell me more.", timedSource, {
    ...{ vault: new Vault(VAULT), masking: ["Secrets", "Sensitive"] },
  });
  for await (const text of scanned) {
    const now = performance.now();
    first ??= now - arrivals[0];
    released += text;
    // The original value is about as long as its placeholder, so the count may be off by a token.
    for (; delayed < tokens.length && TOKEN_CHARS * (delayed + 1) <= released.length; delayed++) {
      delays.push(now - arrivals[delayed]);
    }
  }
  const finished = performance.now();
  const { outcome } = await scanned.report;
  if (outcome === "blocked") throw new Error("a harmless answer was blocked");
  return {
    ...{ first, delay: median(delays), delayP95: percentile(delays, 95) },
    ...{ scan: (finished - start - sourceMs) / TOKENS, end: finished - sourceEnd },
  };
}

/** Scans a long answer in tokens, and returns the duration and by how many MB the process grew. */
async function scanLongAnswer() {
  const block = answerTokens(1, 20_000);
  function* source() {
    for (let length = 0; length < LONG_ANSWER_MB * 1e6; ) {
      for (const token of block) {
        length += token.length;
        yield token;
      }
    }
  }
  const scanners = [new Deanonymize(), new output.Secrets()];
  await scanAnswer(scanners, 0, 0);
  const [before, start] = [process.memoryUsage().rss, performance.now()];
  let peak = 0;
  const scanned = scanOutputStream(scanners, "", source(), { vault: new Vault(VAULT), masking: ["Secrets"] });
  for await (const _ of scanned) peak = Math.max(peak, process.memoryUsage.rss());
  return { megabytes: LONG_ANSWER_MB, ms: performance.now() - start, growthMb: (peak - before) / 1e6 };
}
