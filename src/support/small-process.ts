import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { addon } from "../native.ts";

/** Processors that share a heap of the C library. */
const SHARING = 4;
/** How often it is looked whether a burst has ended, in milliseconds, and the shares of the event loop's time from which on it is busy and quiet. */
const LOOK_EVERY = 5000;
const BUSY = 0.1;
const QUIET = 0.02;

/**
 * Sets up a process for a server, which is to give back what its start and each burst took. The program that decides about its process
 * calls it when it begins; the library never does.
 *
 * - The young generation of V8's heap stays as small as it is at the start: otherwise it grows to 16 MB two or three times over while modules
 *   are loaded, and never shrinks. A process whose command line or `NODE_OPTIONS` says how large it may become is left alone.
 * - When the event loop becomes quiet after it was busy, the garbage is collected once, which V8 puts off in a process that does little. It takes
 *   15 to 30 ms then.
 * - Threads share heaps of the C library: otherwise each has its own, with room of its own between blocks that are in use. A process
 *   with `MALLOC_ARENA_MAX` is left alone.
 */
export function keepProcessSmall(): void {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (!/semi[-_]space/.test(flags)) setFlagsFromString("--semi-space-growth-factor=1");
  if (process.env.MALLOC_ARENA_MAX === undefined) {
    addon.limitHeaps(Math.max(1, Math.round(availableParallelism() / SHARING)));
  }
  collectAfterBursts();
}

function collectAfterBursts(): void {
  let last = performance.eventLoopUtilization();
  let wasBusy = true;
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization >= BUSY) wasBusy = true;
    if (!wasBusy || utilization > QUIET) return;
    wasBusy = false;
    collectGarbage();
  };
  setInterval(look, LOOK_EVERY).unref();
}

/** V8 gives the function to contexts that are made while the flag is set. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  collect();
}
