// The server benchmark: starts the real server in a process of its own and loads it over HTTP.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { prompts } from "./texts/prompts.mjs";

const CONNECTIONS = [1, 8, 32];
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Measures the start, the memory, and the throughput under load. Each load takes so many seconds. */
export function benchServer(seconds) {
  return withServer(path("scanners.yml"), async ({ url, readyAfter, rss }) => {
    const result = { readyAfter, idleRss: rss(), loads: [] };
    const next = prompts(2);
    await load(url, 8, Math.min(2, seconds), next);
    for (const connections of CONNECTIONS) {
      const { requests, latency, errors, non2xx } = await load(url, connections, seconds, next);
      if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} replies that are not 2xx`);
      result.loads.push({
        connections,
        requestsPerSecond: requests.average,
        p50: latency.p50,
        p99: latency.p99,
        rss: rss(),
      });
    }
    return result;
  });
}

/**
 * Keeps this process on the last processor, so that a server on the others has as much time under any load as it has under none. What it
 * starts stays there too, unless it is started with the command that this returns.
 *
 * @returns the command that keeps a program on the other processors; empty where there is only one, or no `taskset` (Linux).
 */
export function apart() {
  const last = availableParallelism() - 1;
  return last > 0 && stayOn(String(last)) ? ["taskset", "--cpu-list", `0-${last - 1}`] : [];
}

/** Lets this process use all processors again. */
export function together() {
  stayOn(`0-${cpus().length - 1}`);
}

function stayOn(processors) {
  try {
    execFileSync("taskset", ["--all-tasks", "--pid", "--cpu-list", processors, String(process.pid)]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the real server with a configuration, calls `use`, stops the server and returns what `use` returned. `use` gets the
 * address, the milliseconds until the server was ready, a function that tells its memory in MB, and the process.
 *
 * @param options.flags flags of Node.js.
 * @param options.under the command that starts it, such as {@link apart} returns.
 */
export async function withServer(config, use, { flags = [], under = [] } = {}) {
  const node = [process.execPath, ...flags, path("dist/cli/main.js")];
  return withProgram((port) => [...under, ...node, "serve", "--config", config, "--port", String(port)], use);
}

/** The same for any server that answers `GET /readyz` with 200 once it is ready. `command` gets its port. */
export async function withProgram(command, use) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = performance.now();
  const [program, ...rest] = command(port);
  const server = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
  server.stdout.resume();
  // The log is printed only where the server fails to start.
  let log = "";
  server.stderr.on("data", (chunk) => {
    log = (log + chunk).slice(-4000);
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  try {
    await ready(url, server, () => log);
    return await use({ url, readyAfter: performance.now() - start, rss: () => residentMemory(server.pid), server });
  } finally {
    server.kill("SIGTERM");
    await exited;
  }
}

function load(url, connections, duration, next) {
  return autocannon({
    url,
    connections,
    duration,
    requests: [
      {
        method: "POST",
        path: "/analyze/prompt",
        headers: { "content-type": "application/json" },
        // Every request has a new text, since identical texts in flight are computed only once.
        setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: next() }) }),
      },
    ],
  });
}

async function ready(url, server, log) {
  for (let attempt = 0; attempt < 3000; attempt++) {
    if (server.exitCode !== null) throw new Error(`the server ended with code ${server.exitCode}\n${log()}`);
    const reply = await fetch(`${url}/readyz`).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply?.ok) return;
    await sleep(10);
  }
  throw new Error(`the server was not ready in time\n${log()}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** The resident memory of a process in MB, or undefined where the system does not tell it. */
function residentMemory(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    try {
      return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
    } catch {
      return undefined;
    }
  }
}
