// guard's server beside a server with llm-guard (app.py), with the same two scanners and the same requests.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { dump } from "js-yaml";
import { withProgram, withServer } from "../server.mjs";
import { median, percentile } from "../stats.mjs";
import { formatNumber, printTable } from "../table.mjs";
import { prompts } from "../texts/prompts.mjs";

const CONNECTIONS = 8;
/** How many bodies are made before the load starts, because making them takes CPU time from the servers. */
const BODY_COUNT = 30_000;
const SCANNERS = [
  { type: "BanSubstrings", params: { substrings: ["a backdoor", "keylogger", "rootkit", "ransomware"] } },
  { type: "Regex", params: { patterns: ["Bearer [A-Za-z0-9-._~+/]{16,}", "\\b\\d{3}-\\d{2}-\\d{4}\\b"] } },
];

/** The servers of llm-guard: with a thread pool per request, as its API has, and with a shared one. */
const PEERS = [
  ["llm-guard", "per-request"],
  ["llm-guard with one thread pool", "shared"],
];

/** Measures both servers at 8 connections, without a Python only guard's. Prints a table and returns the figures. */
export async function compareServers({ python, scratch, rounds, durationMs }) {
  const config = join(scratch, "two-scanners.yml");
  writeFileSync(config, dump({ app: { log_level: "ERROR" }, input_scanners: SCANNERS, output_scanners: [] }));
  const app = fileURLToPath(new URL("app.py", import.meta.url));
  const measured = {};
  const measureInTurn = async (urls) => {
    const next = bodyGenerator();
    for (const [name, url] of Object.entries(urls)) {
      measured[name] = [];
      await load(url, durationMs, next);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [name, url] of Object.entries(urls)) measured[name].push(await load(url, durationMs, next));
    }
  };
  /** Starts the servers of llm-guard in sequence, then measures all servers. */
  const withPeers = async (urls, [[name, threads], ...others]) => {
    const command = (port) => [python, app, String(port), JSON.stringify(SCANNERS), threads];
    await withProgram(command, async ({ url }) => {
      const all = { ...urls, [name]: url };
      await (others.length > 0 ? withPeers(all, others) : measureInTurn(all));
    });
  };
  let missing;
  await withServer(config, async ({ url: guard }) => {
    if (!python) return measureInTurn({ guard });
    try {
      await withPeers({ guard }, PEERS);
    } catch (error) {
      if (measured.guard) throw error;
      missing = error.message;
      await measureInTurn({ guard });
    }
  });
  const rows = Object.entries(measured);
  const middle = (loads, key) => median(loads.map((load) => load[key]));
  console.log(
    `POST /analyze/prompt with ${SCANNERS.map(({ type }) => type).join(" and ")}, prompts of 10 to 300 words, ${CONNECTIONS} connections, ` +
      `median of ${rounds} rounds of ${durationMs / 1000} s:`,
  );
  printTable(
    ["server", "requests/s", "p50 ms", "p99 ms"],
    rows.map(([name, loads]) => [name, ...["perSecond", "p50", "p99"].map((key) => formatNumber(middle(loads, key)))]),
  );
  for (const [name, loads] of rows.slice(1)) {
    const ratios = measured.guard.map(({ perSecond }, index) => perSecond / loads[index].perSecond);
    console.log(`guard's throughput is ${formatNumber(median(ratios))} times that of ${name}.`);
  }
  if (missing) console.log(`Not measured: a server with llm-guard, which needs fastapi and uvicorn: ${missing}`);
  console.log();
  return measured;
}

/** Returns a generator that cycles through the bodies. No server caches results, so repeated bodies cost the same. */
function bodyGenerator() {
  const prompt = prompts(7);
  const made = Array.from({ length: BODY_COUNT }, () => JSON.stringify({ prompt: prompt() }));
  let count = 0;
  return () => made[count++ % BODY_COUNT];
}

/** Loads a server, and returns the throughput and the latencies in milliseconds. */
async function load(url, durationMs, next) {
  const headers = { "content-type": "application/json" };
  const setupRequest = (request) => ({ ...request, body: next() });
  const requests = [{ method: "POST", path: "/analyze/prompt", headers, setupRequest }];
  const times = [];
  const running = autocannon({ url, connections: CONNECTIONS, duration: durationMs / 1000, requests });
  running.on("response", (_client, _status, _bytes, milliseconds) => times.push(milliseconds));
  const { errors, non2xx } = await running;
  if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} replies that are not 2xx`);
  return { perSecond: (1000 * times.length) / durationMs, p50: percentile(times, 50), p99: percentile(times, 99) };
}
