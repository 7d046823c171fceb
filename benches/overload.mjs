// npm run bench:overload [-- --quick] [-- --outputs --chars 1000000]: how the server behaves at ten times its best goodput: how many
// requests it still answers, and how soon it refuses the rest.
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { agent, closedLoop, distinctTexts, latencyQuantile, post } from "./http-load.mjs";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { pinToLastCpu, withServer } from "./server.mjs";
import { printTable } from "./table.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    chars: { type: "string", default: "8000" },
    outputs: { type: "boolean", default: false },
    config: { type: "string", default: fileURLToPath(new URL("../scanners.yml", import.meta.url)) },
  },
});
const durationMs = 1000 * Number(flags.seconds ?? (flags.quick ? 3 : 30));
const chars = Number(flags.chars);
/** Numbers of connections, each with one request in flight. The best goodput among them is the capacity. */
const LEVELS = flags.quick ? [4] : [2, 4, 8, 16];
const OVERLOAD = 10;
const HEALTH_INTERVAL_MS = 50;

const nextText = distinctTexts(23, chars);
const [path, fields] = flags.outputs
  ? ["/analyze/output", () => ({ prompt: "?", output: nextText() })]
  : ["/analyze/prompt", () => ({ prompt: nextText() })];
const send = (url) => post(`${url}${path}`, fields());

/** Sends `rate` requests a second without waiting for replies. */
async function openLoop(url, rate, ms) {
  const replies = [];
  const start = performance.now();
  for (let count = 0; count < (rate * ms) / 1000; count++) {
    const due = start + (count * 1000) / rate;
    if (due > performance.now()) await sleep(due - performance.now());
    replies.push(send(url));
  }
  return Promise.all(replies);
}

/** Runs a load, and measures its replies and the slowest reply of `/healthz`. */
async function measureLoad(url, name, load) {
  let healthMs = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const start = performance.now();
      await fetch(`${url}/healthz`).then((reply) => reply.arrayBuffer());
      healthMs = Math.max(healthMs, performance.now() - start);
      await sleep(HEALTH_INTERVAL_MS);
    }
  })();
  const start = performance.now();
  const replies = await load();
  const elapsedMs = performance.now() - start;
  isOver = true;
  await watching;
  const withStatus = (status) => replies.filter((reply) => reply.status === status);
  const [answered, refused] = [withStatus(200), withStatus(503)];
  return {
    name,
    goodput: (1000 * answered.length) / elapsedMs,
    sent: replies.length,
    answered: answered.length,
    refused: refused.length,
    other: replies.length - answered.length - refused.length,
    p50: latencyQuantile(answered, 0.5),
    p99: latencyQuantile(answered, 0.99),
    refusedP50: latencyQuantile(refused, 0.5),
    refusedP99: latencyQuantile(refused, 0.99),
    retryAfter: Math.max(0, ...refused.map((reply) => reply.retryAfter)),
    healthMs,
  };
}

const machine = machineInfo();
console.log(formatMachine(machine));
const under = pinToLastCpu();
console.log(
  under.length > 0 ? "the load generator has a CPU of its own" : "the load generator shares the server's CPUs",
);
const measure = async ({ url }) => {
  await closedLoop(() => send(url), 4, Math.min(3000, durationMs));
  const rows = [];
  for (const connections of LEVELS) {
    const load = () => closedLoop(() => send(url), connections, durationMs);
    rows.push(await measureLoad(url, `${connections} connections`, load));
  }
  const best = Math.max(...rows.map(({ goodput }) => goodput));
  const rate = OVERLOAD * best;
  rows.push(await measureLoad(url, `${rate.toFixed(0)} requests/s`, () => openLoop(url, rate, durationMs)));
  rows.push(await measureLoad(url, "128 connections", () => closedLoop(() => send(url), 128, durationMs)));
  for (const row of rows) row.share = row.goodput / best;
  return rows;
};
const rows = await withServer(flags.config, measure, { under });
agent.destroy();

const milliseconds = (value) => (Number.isNaN(value) ? "" : value.toFixed(0));
console.log(`${flags.outputs ? "outputs" : "prompts"} of ${chars} characters, ${durationMs / 1000} s each`);
printTable(
  [
    "load",
    "goodput/s",
    "of the best",
    "sent",
    "200",
    "503",
    "other",
    "p50 ms",
    "p99 ms",
    "503: p50 ms",
    "503: p99 ms",
    "Retry-After s",
    "healthz max ms",
  ],
  rows.map((row) => [
    row.name,
    row.goodput.toFixed(1),
    `${(100 * row.share).toFixed(0)} %`,
    ...[row.sent, row.answered, row.refused, row.other].map(String),
    ...[row.p50, row.p99, row.refusedP50, row.refusedP99].map(milliseconds),
    row.retryAfter ? String(row.retryAfter) : "",
    row.healthMs.toFixed(0),
  ]),
);
saveResults("overload", { quick: flags.quick, machine, rows });
