// npm run bench [-- --quick]: guard's engine beside plain onnxruntime-node on the same model and texts, and the server under load.
// Prints tables and writes bench-results/bench.json. Machines are noisy, so both sides run in turn, several times, and each ratio is
// the median of the ratios of neighbouring runs.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { benchServer } from "./server.mjs";
import { median } from "./stats.mjs";
import { number, printTable } from "./table.mjs";

const require = createRequire(import.meta.url);
const run = promisify(execFile);
const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const ROUNDS = flags.quick ? 1 : 3;
const ENGINE_SECONDS = flags.quick ? 1 : 3;
const SERVER_SECONDS = flags.quick ? 2 : 6;
const THREADS = [1, 2];
/** How far apart the probabilities of the two sides may be. The same work gives the same probabilities, but for rounding. */
const SAME = 1e-3;

const machine = {
  cpu: cpus()[0]?.model.trim(),
  cores: availableParallelism(),
  memoryGb: Math.round(totalmem() / 2 ** 30),
  // Other work on the machine makes every figure worse.
  loadBefore: loadavg()[0],
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
  onnxruntime: require("onnxruntime-node/package.json").version,
};
console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.platform}`);
console.log(
  `node ${machine.node}, onnxruntime-node ${machine.onnxruntime}, load before the run ${machine.loadBefore.toFixed(1)}\n`,
);

console.log(
  "Engine: guard takes texts, its tokenizer included; onnxruntime-node is InferenceSession.run on tokens made beforehand.",
);
console.log("Ratios are guard's figure to the other's.\n");
const engine = [];
for (const threads of THREADS) engine.push(await benchEngine(threads));
const server = await benchServer(SERVER_SECONDS);
printServer(server);

const folder = fileURLToPath(new URL("../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(
  `${folder}bench.json`,
  `${JSON.stringify({ date: new Date(), quick: flags.quick, machine, engine, server }, null, 2)}\n`,
);
console.log("Written to bench-results/bench.json");

async function benchEngine(threads) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ guard: await engineRun("guard", threads), raw: await engineRun("raw", threads) });
  }
  const rows = rounds[0].guard.latency.flatMap(({ tokens }, index) =>
    ["p50", "p95"].map((quantile) =>
      compare(`latency ${quantile}, ${tokens} tokens (ms)`, rounds, (side) => side.latency[index][quantile]),
    ),
  );
  rows.push(compare("throughput, 32 at a time (texts/s)", rounds, (side) => side.throughput.textsPerSecond));
  rows.push(compare("largest gap of the event loop (ms)", rounds, (side) => side.throughput.gap, Math.max));
  rows.push(compare("cores busy", rounds, (side) => side.throughput.cores));
  const difference = Math.max(
    ...rounds.flatMap(({ guard, raw }) => guard.scores.map((score, i) => Math.abs(score - raw.scores[i]))),
  );
  // `difference > SAME` would be false for NaN.
  if (!(difference <= SAME))
    throw new Error(`the sides did different work: their probabilities are up to ${difference} apart`);
  console.log(`Engine, ${threads} ${threads === 1 ? "thread" : "threads"}, median of ${ROUNDS} rounds:`);
  printTable(
    ["", "guard", "onnxruntime-node", "ratio"],
    rows.map(({ what, guard, raw, ratio }) => [what, number(guard), number(raw), ratio.toFixed(2)]),
  );
  console.log(`largest difference of a probability: ${difference.toExponential(1)}\n`);
  console.log("Where guard's time goes, by the clocks of its engine (median, ms):");
  printTable(["", "waiting", "tokens", "inference"], clockRows(rounds));
  console.log();
  return { threads, rounds, rows, difference };
}

/** The three clocks of guard's engine, for single calls by length and for many calls at a time. */
function clockRows(rounds) {
  const row = (what, clocksOf) => {
    const clocks = rounds.map(({ guard }) => clocksOf(guard));
    return [what, ...["queued", "tokenized", "inferred"].map((name) => number(median(clocks.map((of) => of[name]))))];
  };
  return [
    ...rounds[0].guard.latency.map(({ tokens }, index) =>
      row(`one call, ${tokens} tokens`, ({ latency }) => latency[index].clocks),
    ),
    row("32 calls at a time", ({ throughput }) => throughput.clocks),
  ];
}

async function engineRun(side, threads) {
  const child = fileURLToPath(new URL("engine.mjs", import.meta.url));
  const args = [child, "--side", side, "--threads", String(threads), "--seconds", String(ENGINE_SECONDS)];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

/** One figure of both sides, and the ratio of guard's to that of onnxruntime-node. */
function compare(what, rounds, figure, sum = (...all) => median(all)) {
  return {
    what,
    guard: sum(...rounds.map(({ guard }) => figure(guard))),
    raw: sum(...rounds.map(({ raw }) => figure(raw))),
    ratio: median(rounds.map(({ guard, raw }) => figure(guard) / figure(raw))),
  };
}

function printServer({ readyAfter, idleRss, loads }) {
  console.log(`Server, scanners.yml, POST /analyze/prompt; the load generator runs on the same machine:`);
  console.log(`ready after ${number(readyAfter)} ms, ${number(idleRss)} MB of memory when idle`);
  printTable(
    ["connections", "requests/s", "p50 (ms)", "p99 (ms)", "memory (MB)"],
    loads.map((load) => [
      String(load.connections),
      ...["requestsPerSecond", "p50", "p99", "rss"].map((key) => number(load[key])),
    ]),
  );
  console.log();
}
