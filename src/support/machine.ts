import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/** The clock and the processors of a machine. Tests replace it to control the time. */
export interface Machine {
  /** The number of processors that this process may use. */
  readonly processors: number;
  /** The monotonic time, in seconds. */
  now(): number;
  /** The CPU time that this process has used, in seconds, summed over all processors. */
  busy(): number;
  /** The idle time of the machine, in seconds, summed over all processors. It is undefined if the system does not report it. */
  idle(): number | undefined;
  /**
   * Calls a function periodically.
   *
   * @param seconds the time between two calls.
   * @returns a function that stops the calls.
   */
  repeat(call: () => void, seconds: number): () => void;
}

/** The machine that this process runs on. */
export const thisMachine: Machine = {
  processors: Math.min(availableParallelism(), quota()),
  now: () => performance.now() / 1000,
  busy: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
  idle: () => {
    // Reading this line is much faster than `cpus()`, which reads files for each processor.
    const line = /^cpu +\d+ \d+ \d+ (\d+)/.exec(read("/proc/stat"));
    // The kernel counts in hundredths of a second (`man 5 proc_stat`, USER_HZ).
    if (line) return Number(line[1]) / 100;
    const all = cpus();
    return all.length === 0 ? undefined : all.reduce((sum, { times }) => sum + times.idle, 0) / 1000;
  },
  repeat: (call, seconds) => {
    // The timeouts of waiting scans keep the process alive.
    const timer = setInterval(call, seconds * 1000).unref();
    return () => clearInterval(timer);
  },
};

/**
 * Returns the number of processors that the control group of this process may use, such as a container with a limit
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html, `cpu.max`). Node.js counts all processors of the machine.
 */
function quota(): number {
  const [limit, period] = read("/sys/fs/cgroup/cpu.max").split(" ").map(Number);
  const processors = (limit ?? Number.NaN) / (period ?? Number.NaN);
  return processors > 0 ? Math.ceil(processors) : Number.POSITIVE_INFINITY;
}

/** Reads a file of the system, or returns an empty text if it does not exist. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
