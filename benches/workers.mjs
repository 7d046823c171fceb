// npm run bench:workers [-- --quick] [-- --seconds 8 --rounds 3 --connections 32 --config FILE]: throughput, CPU time per request and
// memory of one server with 1, 2 and 4 worker processes, in alternating rounds. Linux only.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import autocannon from "autocannon";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { median } from "./stats.mjs";
import { printTable } from "./table.mjs";
import { SENTENCES } from "./texts/prompts.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    rounds: { type: "string" },
    config: { type: "string" },
    connections: { type: "string", default: "32" },
  },
});
const durationMs = 1000 * Number(flags.seconds ?? (flags.quick ? 2 : 8));
const warmUpMs = flags.quick ? 500 : 2000;
const roundCount = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const connections = Number(flags.connections);
const WORKER_COUNTS = [1, 2, 4].filter((count) => count <= Math.max(2, availableParallelism()));
const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-bench-workers-"));
const ruleConfig = join(folder, "scanners.yml");
const config = flags.config ?? ruleConfig;
writeFileSync(
  ruleConfig,
  "app: { log_level: warn }\ninput_scanners:\n  - type: BanSubstrings\n    params: { substrings: [zebra] }\n  - type: InvisibleText\n",
);

let promptCount = 0;

/** Makes a prompt. No two are equal, so no cache helps. */
function nextPrompt() {
  const sentence = SENTENCES[promptCount++ % SENTENCES.length];
  return `${sentence} It is about the order ${promptCount}.`;
}

/** The process ids of a server and its children (`man 5 proc`). */
function processIds(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** The CPU time of a process in milliseconds. The kernel counts it in steps of 10 ms. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The memory of a process in MB. Pages shared by several processes are divided among them (`Pss`). */
function memoryMb(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))[1]) / 1000;
}

async function measure(workers) {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, [cli, "serve", config, "--port", String(port), "--workers", String(workers)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    while (!(await fetch(`${url}/readyz`).catch(() => ({ ok: false }))).ok) await sleep(50);
    const load = (ms) =>
      autocannon({
        ...{ url, connections, duration: ms / 1000 },
        requests: [
          {
            ...{ method: "POST", path: "/analyze/prompt", headers: { "content-type": "application/json" } },
            setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: nextPrompt() }) }),
          },
        ],
      });
    await load(warmUpMs);
    const pids = processIds(server.pid);
    const before = pids.map(cpuMs);
    const result = await load(durationMs);
    const used = pids.map((pid, index) => cpuMs(pid) - before[index]);
    const memory = pids.map(memoryMb);
    return {
      rate: result.requests.average,
      p50: result.latency.p50,
      p99: result.latency.p99,
      cpuUs: (1e3 * used.reduce((sum, one) => sum + one, 0)) / result.requests.total,
      firstCpuUs: (1e3 * used[0]) / result.requests.total,
      memory,
      failed: result.non2xx + result.errors,
    };
  } finally {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill();
    await ended;
  }
}

const machine = machineInfo();
const rounds = new Map(WORKER_COUNTS.map((count) => [count, []]));
try {
  for (let round = 0; round < roundCount; round++) {
    for (const count of WORKER_COUNTS) rounds.get(count).push(await measure(count));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(formatMachine(machine));
console.log(`${connections} connections, medians of ${roundCount} rounds; the load generator runs on the same CPUs`);
const middle = (runs, key) => median(runs.map((run) => run[key]));
printTable(
  [
    "processes",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "CPU µs/request",
    "of it the main process",
    "main MB",
    "worker MB",
    "failed",
  ],
  [...rounds].map(([count, runs]) => [
    String(count),
    ...["rate", "p50", "p99", "cpuUs"].map((key) => middle(runs, key).toFixed(0)),
    count === 1 ? "" : middle(runs, "firstCpuUs").toFixed(0),
    median(runs.map(({ memory }) => memory[0])).toFixed(0),
    count === 1 ? "" : median(runs.map(({ memory }) => median(memory.slice(1)))).toFixed(0),
    String(runs.reduce((sum, { failed }) => sum + failed, 0)),
  ]),
);
saveResults("workers", { quick: flags.quick, machine, rounds: Object.fromEntries(rounds) });
