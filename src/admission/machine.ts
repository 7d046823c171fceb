import { availableParallelism } from "node:os";

/** What {@link Admission} reads of the machine. A test gives one of its own, whose time it moves. */
export interface Machine {
  /** The processors that this process may use. */
  readonly processors: number;
  /** The time, in seconds. It only grows. */
  now(): number;
  /** The seconds of processor time that this process has used. With several processors it grows faster than the time. */
  busy(): number;
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
  processors: availableParallelism(),
  now: () => performance.now() / 1000,
  busy: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
  repeat: (call, seconds) => {
    // What waits has a timeout of its own, which keeps the process alive.
    const timer = setInterval(call, seconds * 1000).unref();
    return () => clearInterval(timer);
  },
};
