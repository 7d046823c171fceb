// npm run bench:overload [-- --quick] [-- --outputs --chars 1000000]
// What the server does under ten times the load that it can take: how much it still answers, how soon it refuses the rest.
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, machineNow } from "./machine.mjs";
import { agent, closedLoop, longTexts, post, quantile } from "./posting.mjs";
import { apart, withServer } from "./server.mjs";
import { printTable } from "./table.mjs";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    chars: { type: "string", default: "8000" },
    outputs: { type: "boolean", default: false },
    config: { type: "string", default: fileURLToPath(new URL("../scanners.yml", import.meta.url)) },
  },
});
const seconds = Number(values.seconds ?? (values.quick ? 8 : 30));
const chars = Number(values.chars);
/** The numbers of connections among which the best goodput is looked for. Each of them always has one request under way. */
const LEVELS = values.quick ? [4, 8] : [2, 4, 8, 16];
const OVERLOAD = 10;

const text = longTexts(23, chars);
const [path, fields] = values.outputs
  ? ["/analyze/output", () => ({ prompt: "?", output: text() })]
  : ["/analyze/prompt", () => ({ prompt: text() })];
const send = (url) => post(`${url}${path}`, fields());

/** Sends so many requests a second, whatever becomes of them. */
async function openLoop(url, rate, duration) {
  const under = [];
  const start = performance.now();
  for (let count = 0; count < rate * duration; count++) {
    const due = start + (count * 1000) / rate;
    if (due > performance.now()) await sleep(due - performance.now());
    under.push(send(url));
  }
  return Promise.all(under);
}

/** Measures a load, and the slowest answer of `/healthz` meanwhile. */
async function measured(url, name, load) {
  let health = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const start = performance.now();
      await fetch(`${url}/healthz`).then((reply) => reply.arrayBuffer());
      health = Math.max(health, performance.now() - start);
      await sleep(50);
    }
  })();
  const start = performance.now();
  const replies = await load();
  const took = (performance.now() - start) / 1000;
  isOver = true;
  await watching;
  const of = (status) => replies.filter((reply) => reply.status === status);
  const [answered, refused] = [of(200), of(503)];
  return {
    name,
    goodput: answered.length / took,
    sent: replies.length,
    answered: answered.length,
    refused: refused.length,
    other: replies.length - answered.length - refused.length,
    p50: quantile(answered, 0.5),
    p99: quantile(answered, 0.99),
    refusedP50: quantile(refused, 0.5),
    refusedP99: quantile(refused, 0.99),
    retryAfter: Math.max(0, ...refused.map((reply) => reply.retryAfter)),
    health,
  };
}

const machine = machineNow();
console.log(describe(machine));
const under = apart();
console.log(
  under.length > 0 ? "the load comes from a processor of its own" : "the load comes from the server's processors",
);
const measure = async ({ url }) => {
  await closedLoop(() => send(url), 4, Math.min(3, seconds));
  const rows = [];
  for (const connections of LEVELS) {
    rows.push(
      await measured(url, `${connections} connections`, () => closedLoop(() => send(url), connections, seconds)),
    );
  }
  const best = Math.max(...rows.map(({ goodput }) => goodput));
  const rate = OVERLOAD * best;
  rows.push(await measured(url, `${rate.toFixed(0)} requests/s`, () => openLoop(url, rate, seconds)));
  rows.push(await measured(url, "128 connections", () => closedLoop(() => send(url), 128, seconds)));
  for (const row of rows) row.share = row.goodput / best;
  return rows;
};
const rows = await withServer(values.config, measure, { under });
agent.destroy();

const s = (value) => (Number.isNaN(value) ? "" : value.toFixed(2));
console.log(`${values.outputs ? "outputs" : "prompts"} of ${chars} characters, ${seconds} s each`);
printTable(
  [
    "load",
    "goodput/s",
    "of the best",
    "sent",
    "200",
    "503",
    "other",
    "p50 s",
    "p99 s",
    "503: p50 s",
    "503: p99 s",
    "Retry-After",
    "healthz max ms",
  ],
  rows.map((row) => [
    row.name,
    row.goodput.toFixed(1),
    `${(100 * row.share).toFixed(0)} %`,
    ...[row.sent, row.answered, row.refused, row.other].map(String),
    s(row.p50),
    s(row.p99),
    s(row.refusedP50),
    s(row.refusedP99),
    row.retryAfter ? String(row.retryAfter) : "",
    row.health.toFixed(0),
  ]),
);
mkdirSync("bench-results", { recursive: true });
writeFileSync("bench-results/overload.json", JSON.stringify({ machine, rows }, null, 2));
