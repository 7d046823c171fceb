// npm run bench:workers [-- --seconds 8 --rounds 3 --connections 32 --config FILE]
// What several processes of one server bring: throughput, processor time of a request and memory of each process, in rounds that alternate.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import autocannon from "autocannon";
import { describe, machineNow } from "./machine.mjs";
import { median } from "./stats.mjs";
import { printTable } from "./table.mjs";
import { SENTENCES } from "./texts/prompts.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    config: { type: "string" },
    connections: { type: "string", default: "32" },
  },
});
const COUNTS = [1, 2, 4].filter((count) => count <= Math.max(2, availableParallelism()));
const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-bench-workers-"));
const ruleFile = join(folder, "scanners.yml");
const file = values.config ?? ruleFile;
writeFileSync(
  ruleFile,
  "app: { log_level: warn }\ninput_scanners:\n  - type: BanSubstrings\n    params: { substrings: [zebra] }\n  - type: InvisibleText\n",
);

let texts = 0;

/** A prompt, of which no two are equal. */
function text() {
  const sentence = SENTENCES[texts++ % SENTENCES.length];
  return `${sentence} It is about the order ${texts}.`;
}

/** The processes of a server: itself and its children (`man 5 proc`). */
function processesOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** Seconds of processor time that a process has used, in the hundredths that the kernel counts in. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The memory of a process in MB, of which what it shares with others counts in part (`Pss`), as do pages of one program. */
function memoryOf(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))[1]) / 1000;
}

async function measure(workers) {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, [cli, "serve", file, "--port", String(port), "--workers", String(workers)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    while (!(await fetch(`${url}/readyz`).catch(() => ({ ok: false }))).ok) await new Promise((r) => setTimeout(r, 50));
    const call = (duration) =>
      autocannon({
        ...{ url, connections: Number(values.connections), duration },
        requests: [
          {
            ...{ method: "POST", path: "/analyze/prompt", headers: { "content-type": "application/json" } },
            // Every request has a new text: what is known of a text is not computed anew.
            setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: text() }) }),
          },
        ],
      });
    await call(2);
    const pids = processesOf(server.pid);
    const before = pids.map(cpuOf);
    const result = await call(Number(values.seconds));
    const used = pids.map((pid, index) => cpuOf(pid) - before[index]);
    const memory = pids.map(memoryOf);
    return {
      rate: result.requests.average,
      p50: result.latency.p50,
      p99: result.latency.p99,
      cpu: (1e6 * used.reduce((sum, one) => sum + one, 0)) / result.requests.total,
      first: (1e6 * used[0]) / result.requests.total,
      memory,
      failed: result.non2xx + result.errors,
    };
  } finally {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill();
    await ended;
  }
}

const machine = machineNow();
const rounds = new Map(COUNTS.map((count) => [count, []]));
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const count of COUNTS) rounds.get(count).push(await measure(count));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(describe(machine));
console.log(
  `${values.connections} connections, medians of ${values.rounds} rounds; the load generator runs on the same processors`,
);
const mid = (of, key) => median(of.map((one) => one[key]));
printTable(
  ["processes", "requests/s", "p50 ms", "p99 ms", "CPU µs/request", "of it the first", "MB first", "MB each", "failed"],
  [...rounds].map(([count, of]) => [
    String(count),
    mid(of, "rate").toFixed(0),
    mid(of, "p50").toFixed(0),
    mid(of, "p99").toFixed(0),
    mid(of, "cpu").toFixed(0),
    count === 1 ? "" : mid(of, "first").toFixed(0),
    median(of.map(({ memory }) => memory[0])).toFixed(0),
    count === 1 ? "" : median(of.map(({ memory }) => median(memory.slice(1)))).toFixed(0),
    String(of.reduce((sum, { failed }) => sum + failed, 0)),
  ]),
);
