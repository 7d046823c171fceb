import { readdirSync, readFileSync } from "node:fs";
import { engineOptions } from "../models/engine-options.ts";
import { thisMachine } from "../service/admission/machine.ts";

/** How many processors one process is for, with `auto`: its event loop and the threads of its models keep about so many busy. */
const PROCESSORS_OF_ONE = 4;

/** How many processes serve what `app.workers` says. */
export function workersOf(workers: number | "auto"): number {
  return workers === "auto" ? Math.max(1, Math.floor(thisMachine.processors / PROCESSORS_OF_ONE)) : workers;
}

/**
 * How many threads each of several processes uses for models: its share of what one process would use, and one at least.
 *
 * @throws GuardValidationError for a bad `GUARD_ONNX_THREADS`.
 */
export function threadsOf(workers: number, env: NodeJS.ProcessEnv = process.env): number {
  const { threads = Math.min(thisMachine.processors, cores()) } = engineOptions(env);
  return Math.max(1, Math.floor(threads / workers));
}

/** The part of a limit that each of several processes has. All of them together have at most one less than their number more than it. */
export function shareOf(limit: number, workers: number): number {
  return Math.ceil(limit / workers);
}

/**
 * The physical cores of the machine, as the kernel of Linux tells them
 * (https://docs.kernel.org/admin-guide/cputopology.html): processors with the same siblings are one core. Elsewhere nothing is known.
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
