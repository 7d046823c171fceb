// npm run bench:event-loop [-- --quick] [-- NAME]: how long one request blocks all others. Each case sends a text of a megabyte while
// /healthz is polled. It reports the longest latency of /healthz and the most CPU time of one turn of the event loop, each the best of its
// rounds. NAME selects the cases whose name contains it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "../machine.mjs";
import { saveResults } from "../results.mjs";
import { withServer } from "../server.mjs";
import { printTable } from "../table.mjs";
import { CASES, QUICK_CASES, warmUpBody } from "./cases.mjs";

const { values: flags, positionals } = parseArgs({
  options: { quick: { type: "boolean", default: false } },
  allowPositionals: true,
});
const ROUNDS = flags.quick ? 1 : 3;
/** The longest latency of /healthz that a case may cause, in milliseconds. */
const LIMIT_MS = 50;
const POLL_INTERVAL_MS = 2;
const SCAN_TIMEOUT_S = 120;
/** Preloads the probe, which needs Linux. */
const NODE_FLAGS = process.platform === "linux" ? ["--import", new URL("probe.mjs", import.meta.url).href] : [];

function isSelected({ name }) {
  const [filter] = positionals;
  if (filter !== undefined) return name.toLowerCase().includes(filter.toLowerCase());
  return !flags.quick || QUICK_CASES.includes(name);
}

const machine = machineInfo();
console.log(formatMachine(machine));
const rows = [];
for (const one of CASES.filter(isSelected)) {
  const folder = mkdtempSync(join(tmpdir(), "guard-bench-loop-"));
  try {
    rows.push({ name: one.name, ...(await measureCase(one, folder)) });
  } catch (error) {
    rows.push({ name: one.name, error: error.message.slice(0, 300) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
printTable(
  ["case", "healthz max ms", "longest turn CPU ms", "scan ms", "reply MB", "status"],
  rows.map(({ name, error, healthMs, turnMs, scanMs, bytes, status }) =>
    error === undefined
      ? [name, healthMs.toFixed(0), turnMs.toFixed(0), scanMs.toFixed(0), (bytes / 1e6).toFixed(2), String(status)]
      : [name, error, "", "", "", ""],
  ),
);
const over = rows.filter(({ healthMs }) => healthMs > LIMIT_MS);
console.log(
  over.length === 0
    ? `No case blocks more than ${LIMIT_MS} ms.`
    : `${over.length} cases block more than ${LIMIT_MS} ms.`,
);
saveResults("event-loop", { quick: flags.quick, machine, rows });
if (rows.some(({ error }) => error !== undefined)) process.exitCode = 1;

/** Starts a server with the scanners of a case, and measures its request. */
async function measureCase({ path, body, scanners, connections = 1, app = {} }, folder) {
  const config = join(folder, "scanners.yml");
  const settings = {
    app: { log_level: "ERROR", scan_prompt_timeout: SCAN_TIMEOUT_S, scan_output_timeout: SCAN_TIMEOUT_S, ...app },
    [path === "/analyze/output" ? "output_scanners" : "input_scanners"]: scanners,
  };
  writeFileSync(config, JSON.stringify(settings));
  const sent = Buffer.from(JSON.stringify(body));
  const measure = async ({ url, server }) => {
    await post(url + path, Buffer.from(JSON.stringify(warmUpBody({ path, body }))));
    const best = { healthMs: Number.POSITIVE_INFINITY, turnMs: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS; round += 1) {
      await longestTurn(server);
      const poll = startPolling(`${url}/healthz`);
      const start = performance.now();
      const replies = await Promise.all(Array.from({ length: connections }, () => post(url + path, sent)));
      const scanMs = performance.now() - start;
      const healthMs = await poll.stop();
      best.turnMs = Math.min(best.turnMs, await longestTurn(server));
      if (healthMs < best.healthMs) Object.assign(best, { healthMs, scanMs, ...replies[0] });
    }
    return best;
  };
  return withServer(config, measure, { flags: NODE_FLAGS });
}

/** The most CPU time of a turn of the server's event loop since the last call, in milliseconds; NaN without the probe. */
function longestTurn(server) {
  if (NODE_FLAGS.length === 0) return Number.NaN;
  return new Promise((resolve) => {
    const read = (chunk) => {
      const [, found] = /longest turn ([\d.]+)/.exec(chunk) ?? [];
      if (found === undefined) return;
      server.stdout.off("data", read);
      resolve(Number(found));
    };
    server.stdout.on("data", read);
    server.kill("SIGUSR2");
  });
}

/** Posts a body, and returns the status and the length of the reply. */
function post(url, body) {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: "POST", headers: { "content-type": "application/json", "content-length": body.length } },
      (reply) => {
        let bytes = 0;
        reply.on("data", (chunk) => {
          bytes += chunk.length;
        });
        reply.on("end", () => resolve({ status: reply.statusCode, bytes }));
      },
    );
    call.on("error", reject).end(body);
  });
}

/** Polls a URL until `stop`, which returns the longest latency in milliseconds. */
function startPolling(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isRunning = true;
  let longest = 0;
  const done = (async () => {
    while (isRunning) {
      const start = performance.now();
      await new Promise((resolve, reject) => {
        request(url, { agent }, (reply) => reply.resume().on("end", resolve))
          .on("error", reject)
          .end();
      });
      longest = Math.max(longest, performance.now() - start);
      await sleep(POLL_INTERVAL_MS);
    }
    agent.destroy();
  })();
  return {
    async stop() {
      await sleep(10 * POLL_INTERVAL_MS);
      isRunning = false;
      await done;
      return longest;
    },
  };
}
