import { readdirSync, readFileSync } from "node:fs";
import { engineOptions } from "../models/engine-options.ts";
import { thisMachine } from "../support/machine.ts";

/** Processors for each process with `auto`: an event loop and the threads of models use about this many. */
const PROCESSORS_PER_WORKER = 4;

/** Returns the number of processes of `app.workers`. */
export function workersOf(workers: number | "auto"): number {
  return workers === "auto" ? Math.max(1, Math.floor(thisMachine.processors / PROCESSORS_PER_WORKER)) : workers;
}

/**
 * Returns the number of model threads of each of several processes: its share of the threads of a single process, at least one.
 *
 * @throws GuardValidationError for an invalid `GUARD_ONNX_THREADS`.
 */
export function threadsOf(workers: number, env: NodeJS.ProcessEnv = process.env): number {
  const { threads = Math.min(thisMachine.processors, cores()) } = engineOptions(env);
  return Math.max(1, Math.floor(threads / workers));
}

/** Returns the share of a limit for each of several processes, rounded up. */
export function shareOf(limit: number, workers: number): number {
  return Math.ceil(limit / workers);
}

/**
 * Returns the number of physical cores on Linux, where processors with the same siblings are one core
 * (https://docs.kernel.org/admin-guide/cputopology.html), and infinity elsewhere.
 */
function cores(): number {
  const folder = "/sys/devices/system/cpu";
  try {
    const names = readdirSync(folder).filter((name) => /^cpu\d+$/.test(name));
    const siblings = names.map((name) => readFileSync(`${folder}/${name}/topology/thread_siblings_list`, "latin1"));
    return new Set(siblings).size || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
