// A server of guard beside a server of llm-guard (app.py), with the same two scanners and the same requests.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { dump } from "js-yaml";
import { withProgram, withServer } from "../server.mjs";
import { median, percentile } from "../stats.mjs";
import { number, printTable } from "../table.mjs";
import { prompts } from "../texts/prompts.mjs";

const CONNECTIONS = 8;
/** Bodies that are made before any load, since whoever makes them takes the processors from the servers. */
const BODIES = 30_000;
const SCANNERS = [
  { type: "BanSubstrings", params: { substrings: ["a backdoor", "keylogger", "rootkit", "ransomware"] } },
  { type: "Regex", params: { patterns: ["Bearer [A-Za-z0-9-._~+/]{16,}", "\\b\\d{3}-\\d{2}-\\d{4}\\b"] } },
];

/** The servers of llm-guard: as its API does it, and as it could. */
const PEERS = [
  ["llm-guard", "own"],
  ["llm-guard with one thread pool", "kept"],
];

/** Prints and returns what both servers do at 8 connections; without a Python guard's alone. */
export async function http({ python, scratch, rounds, seconds }) {
  const config = join(scratch, "two-scanners.yml");
  writeFileSync(config, dump({ app: { log_level: "ERROR" }, input_scanners: SCANNERS, output_scanners: [] }));
  const app = fileURLToPath(new URL("app.py", import.meta.url));
  const measured = {};
  const inTurn = async (urls) => {
    const next = bodies();
    for (const [name, url] of Object.entries(urls)) {
      measured[name] = [];
      await load(url, Math.max(2, seconds), next);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [name, url] of Object.entries(urls)) measured[name].push(await load(url, seconds, next));
    }
  };
  /** Starts the servers of llm-guard one after the other, and measures when all are there. */
  const withPeers = async (urls, [[name, threads], ...others]) => {
    const command = (port) => [python, app, String(port), JSON.stringify(SCANNERS), threads];
    await withProgram(command, async ({ url }) => {
      const all = { ...urls, [name]: url };
      await (others.length > 0 ? withPeers(all, others) : inTurn(all));
    });
  };
  let missing;
  await withServer(config, async ({ url: guard }) => {
    if (!python) return inTurn({ guard });
    try {
      await withPeers({ guard }, PEERS);
    } catch (error) {
      if (measured.guard) throw error;
      missing = error.message;
      await inTurn({ guard });
    }
  });
  const rows = Object.entries(measured);
  const of = (loads, key) => median(loads.map((one) => one[key]));
  console.log(
    `POST /analyze/prompt with ${SCANNERS.map(({ type }) => type).join(" and ")}, prompts of 10 to 300 words, ${CONNECTIONS} connections, ` +
      `median of ${rounds} rounds of ${seconds} s:`,
  );
  printTable(
    ["server", "requests/s", "p50 ms", "p99 ms"],
    rows.map(([name, loads]) => [name, ...["perSecond", "p50", "p99"].map((key) => number(of(loads, key)))]),
  );
  for (const [name, loads] of rows.slice(1)) {
    const ratios = measured.guard.map(({ perSecond }, index) => perSecond / loads[index].perSecond);
    console.log(`guard's throughput is ${number(median(ratios))} times that of ${name}.`);
  }
  if (missing) console.log(`Not measured: a server with llm-guard, which needs fastapi and uvicorn: ${missing}`);
  console.log();
  return measured;
}

/** Returns what gives one body after the other. No server keeps what it answered, so that it does not matter when they come again. */
function bodies() {
  const prompt = prompts(7);
  const made = Array.from({ length: BODIES }, () => JSON.stringify({ prompt: prompt() }));
  let count = 0;
  return () => made[count++ % BODIES];
}

/** Loads a server for so many seconds. Latencies are in milliseconds. */
async function load(url, duration, next) {
  const headers = { "content-type": "application/json" };
  const setupRequest = (request) => ({ ...request, body: next() });
  const requests = [{ method: "POST", path: "/analyze/prompt", headers, setupRequest }];
  const times = [];
  const running = autocannon({ url, connections: CONNECTIONS, duration, requests });
  running.on("response", (_client, _status, _bytes, milliseconds) => times.push(milliseconds));
  const { errors, non2xx } = await running;
  if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} replies that are not 2xx`);
  return { perSecond: times.length / duration, p50: percentile(times, 50), p99: percentile(times, 99) };
}
