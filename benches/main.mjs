// npm run bench [-- --quick]: guard's engine beside plain onnxruntime-node on the same model and texts, and the server under load.
// Both sides run in turn, several times, and each ratio is the median of the ratios of neighbouring runs.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { benchServer } from "./server.mjs";
import { median } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";

const require = createRequire(import.meta.url);
const run = promisify(execFile);
const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const ROUNDS = flags.quick ? 1 : 3;
const ENGINE_MS = flags.quick ? 400 : 3000;
const SERVER_MS = flags.quick ? 1000 : 6000;
const THREADS = flags.quick ? [1] : [1, 2];
/** The largest difference of a probability between the sides. The same work gives the same probabilities, apart from rounding. */
const TOLERANCE = 1e-3;

const machine = { ...machineInfo(), onnxruntime: require("onnxruntime-node/package.json").version };
console.log(`${formatMachine(machine)}, onnxruntime-node ${machine.onnxruntime}\n`);
console.log(
  "Engine: guard tokenizes each text; onnxruntime-node runs InferenceSession.run on token ids made beforehand.",
);
console.log("Ratios are guard's figure divided by that of onnxruntime-node.\n");
const engine = [];
for (const threads of THREADS) engine.push(await benchEngine(threads));
const server = await benchServer(SERVER_MS);
printServer(server);
saveResults("bench", { quick: flags.quick, machine, engine, server });

async function benchEngine(threads) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ guard: await runSide("guard", threads), raw: await runSide("raw", threads) });
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
  // `difference > TOLERANCE` would be false for NaN.
  if (!(difference <= TOLERANCE))
    throw new Error(`the sides did different work: their probabilities differ by up to ${difference}`);
  console.log(`Engine, ${threads} ${threads === 1 ? "thread" : "threads"}, median of ${ROUNDS} rounds:`);
  printTable(
    ["", "guard", "onnxruntime-node", "ratio"],
    rows.map(({ figure, guard, raw, ratio }) => [figure, formatNumber(guard), formatNumber(raw), ratio.toFixed(2)]),
  );
  console.log(`largest difference of a probability: ${difference.toExponential(1)}\n`);
  console.log("How guard's engine spends its time (median, ms):");
  printTable(["", "waiting", "tokenizing", "inference"], timingRows(rounds));
  console.log();
  return { threads, rounds, rows, difference };
}

/** The three timings of guard's engine, for single calls by length and for concurrent calls. */
function timingRows(rounds) {
  const row = (name, timingsOf) => {
    const timings = rounds.map(({ guard }) => timingsOf(guard));
    return [
      name,
      ...["queued", "tokenized", "inferred"].map((phase) => formatNumber(median(timings.map((of) => of[phase])))),
    ];
  };
  return [
    ...rounds[0].guard.latency.map(({ tokens }, index) =>
      row(`one call, ${tokens} tokens`, ({ latency }) => latency[index].timings),
    ),
    row("32 calls at a time", ({ throughput }) => throughput.timings),
  ];
}

async function runSide(side, threads) {
  const program = fileURLToPath(new URL("engine-side.mjs", import.meta.url));
  const args = [program, "--side", side, "--threads", String(threads), "--ms", String(ENGINE_MS)];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

/** One figure of both sides, and the ratio of guard's figure to that of onnxruntime-node. */
function compare(figure, rounds, read, aggregate = (...all) => median(all)) {
  return {
    figure,
    guard: aggregate(...rounds.map(({ guard }) => read(guard))),
    raw: aggregate(...rounds.map(({ raw }) => read(raw))),
    ratio: median(rounds.map(({ guard, raw }) => read(guard) / read(raw))),
  };
}

function printServer({ readyAfterMs, idleRss, loads }) {
  console.log("Server, scanners.yml, POST /analyze/prompt; the load generator runs on the same machine:");
  console.log(`ready after ${formatNumber(readyAfterMs)} ms, ${formatNumber(idleRss)} MB of memory when idle`);
  printTable(
    ["connections", "requests/s", "p50 (ms)", "p99 (ms)", "memory (MB)"],
    loads.map((load) => [
      String(load.connections),
      ...["requestsPerSecond", "p50", "p99", "rss"].map((key) => formatNumber(load[key])),
    ]),
  );
  console.log();
}
