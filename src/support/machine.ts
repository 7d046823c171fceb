import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/** What {@link Admission} reads of the machine. A test gives one of its own, whose time it moves. */
export interface Machine {
  /** How many processors this process may keep busy. */
  readonly processors: number;
  /** The time, in seconds. It only grows. */
  now(): number;
  /** The seconds of processor time that this process has used, of all processors together. */
  busy(): number;
  /** The seconds in which processors had nothing to do, of all processors together. It is undefined where nobody can tell. */
  idle(): number | undefined;
  /**
   * Calls a function again and again until it is stopped.
   *
   * @param seconds the time between two calls.
   * @returns stops it.
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
    // The system's own line takes a fraction of the time that `cpus()` takes, which reads files for each processor.
    const line = /^cpu +\d+ \d+ \d+ (\d+)/.exec(read("/proc/stat"));
    // The kernel counts in hundredths of a second (`man 5 proc_stat`, USER_HZ).
    if (line) return Number(line[1]) / 100;
    const all = cpus();
    return all.length === 0 ? undefined : all.reduce((sum, { times }) => sum + times.idle, 0) / 1000;
  },
  repeat: (call, seconds) => {
    // What waits has a timeout of its own, which keeps the process alive.
    const timer = setInterval(call, seconds * 1000).unref();
    return () => clearInterval(timer);
  },
};

/**
 * How many processors the control group of this process, such as a container with a limit, may use
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html, `cpu.max`). Node.js counts all processors of the machine.
 */
function quota(): number {
  const [most, period] = read("/sys/fs/cgroup/cpu.max").split(" ").map(Number);
  const processors = (most ?? Number.NaN) / (period ?? Number.NaN);
  return processors > 0 ? Math.ceil(processors) : Number.POSITIVE_INFINITY;
}

/** Reads a file of the system; nothing where there is no such file. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
