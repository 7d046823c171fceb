// Starts the real server in a process of its own and loads it over HTTP.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { prompts } from "./texts/prompts.mjs";

const CONNECTIONS = [1, 8, 32];
const START_TIMEOUT_MS = 30_000;
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Measures the start, the memory, and the throughput for several numbers of connections. Each load runs for `durationMs`. */
export function benchServer(durationMs) {
  return withServer(path("scanners.yml"), async ({ url, readyAfterMs, rss }) => {
    const result = { readyAfterMs, idleRss: rss(), loads: [] };
    const next = prompts(2);
    await load(url, 8, Math.min(2000, durationMs), next);
    for (const connections of CONNECTIONS) {
      const { requests, latency, errors, non2xx } = await load(url, connections, durationMs, next);
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
 * Pins this process to the last CPU, so that the load generator takes no time from a server on the other CPUs. Child processes inherit
 * the affinity unless they start with the returned command.
 *
 * @returns the command that pins a program to the other CPUs; empty with a single CPU or without `taskset` (Linux).
 */
export function pinToLastCpu() {
  const last = availableParallelism() - 1;
  return last > 0 && setAffinity(String(last)) ? ["taskset", "--cpu-list", `0-${last - 1}`] : [];
}

/** Lets this process run on all CPUs again. */
export function unpin() {
  setAffinity(`0-${cpus().length - 1}`);
}

function setAffinity(cpuList) {
  try {
    execFileSync("taskset", ["--all-tasks", "--pid", "--cpu-list", cpuList, String(process.pid)]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the real server with a configuration file, calls `use`, stops the server and returns the result of `use`. `use` receives the
 * URL, the start-up time in milliseconds, a function that returns the resident memory in MB, and the child process.
 *
 * @param options.flags flags of Node.js.
 * @param options.under the command that starts the server, such as the result of {@link pinToLastCpu}.
 */
export async function withServer(config, use, { flags = [], under = [] } = {}) {
  const node = [process.execPath, ...flags, path("dist/cli/main.js")];
  return withProgram((port) => [...under, ...node, "serve", "--config", config, "--port", String(port)], use);
}

/** Like {@link withServer}, for any server that answers `GET /readyz` with 200 when it is ready. `command` maps a port to a command. */
export async function withProgram(command, use) {
  const port = await freePort();
  const start = performance.now();
  const { url, server, stop } = await startProgram(command(port), port);
  try {
    return await use({ url, readyAfterMs: performance.now() - start, rss: () => residentMemory(server.pid), server });
  } finally {
    await stop();
  }
}

/**
 * Starts a server and waits until it is ready.
 *
 * @param port the port on which the command listens.
 * @param onStart called with the process at once.
 */
export async function startProgram([program, ...args], port, onStart = () => {}) {
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  onStart(server);
  server.stdout.resume();
  // The log is printed only if the server fails to start.
  let log = "";
  server.stderr.on("data", (chunk) => {
    log = (log + chunk).slice(-4000);
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  const stop = async (signal = "SIGTERM") => {
    server.kill(signal);
    await exited;
  };
  try {
    await waitUntilReady(url, server, () => log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, server, stop };
}

function load(url, connections, durationMs, next) {
  return autocannon({
    url,
    connections,
    duration: durationMs / 1000,
    requests: [
      {
        method: "POST",
        path: "/analyze/prompt",
        headers: { "content-type": "application/json" },
        // Identical texts in flight are computed only once, so every request has a new text.
        setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: next() }) }),
      },
    ],
  });
}

async function waitUntilReady(url, server, log) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`the server exited with code ${server.exitCode}\n${log()}`);
    const reply = await fetch(`${url}/readyz`).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply?.ok) return;
    await sleep(10);
  }
  throw new Error(`the server was not ready within ${START_TIMEOUT_MS} ms\n${log()}`);
}

/** Returns a port that no program uses now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** The resident memory of a process in MB, or undefined if the system does not report it. */
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
