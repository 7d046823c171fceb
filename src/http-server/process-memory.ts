import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { addon } from "../native.ts";

/** How many processors share a heap of the C library. */
const PROCESSORS_PER_HEAP = 4;
/** Milliseconds after a collection until V8 has freed the memory of buffers. */
const SWEEP_MS = 200;
/** How often the event loop's utilization is sampled, in milliseconds. */
const SAMPLE_EVERY = 5000;
/** From this utilization on, the event loop counts as busy. */
const BUSY = 0.1;
/** Up to this utilization, the event loop counts as idle. */
const IDLE = 0.02;
/** How often the garbage is collected after a burst. The first collection is often too early for the buffers of connections that just closed. */
const COLLECTIONS = 2;

/**
 * Makes a server process release the memory that its start and each burst of requests needed. Only a program that owns its process calls
 * this; the library never does.
 *
 * - The young generation of V8's heap keeps its initial size. Otherwise it grows to two or three times 16 MB while modules load, and never
 *   shrinks. A process that sets its size on the command line or in `NODE_OPTIONS` keeps that setting.
 * - When the event loop becomes idle after a burst, the garbage is collected twice, which takes 15 to 30 ms each, and the C library returns
 *   the memory of bodies and texts. V8 postpones a collection in a process that does little.
 * - Threads share heaps of the C library. Otherwise each thread has its own heap with its own fragmentation. A process with
 *   `MALLOC_ARENA_MAX` keeps that setting.
 */
export function limitProcessMemory(): void {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (!/semi[-_]space/.test(flags)) setFlagsFromString("--semi-space-growth-factor=1");
  if (process.env.MALLOC_ARENA_MAX === undefined) {
    addon.limitHeaps(Math.max(1, Math.round(availableParallelism() / PROCESSORS_PER_HEAP)));
  }
  collectAfterBursts();
}

function collectAfterBursts(): void {
  let last = performance.eventLoopUtilization();
  let due = COLLECTIONS;
  const sample = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization >= BUSY) due = COLLECTIONS;
    if (due === 0 || utilization > IDLE) return;
    due--;
    collectGarbage();
    // V8 frees the memory of buffers on threads of its own, after the collection.
    setTimeout(() => addon.releaseMemory(), SWEEP_MS).unref();
  };
  setInterval(sample, SAMPLE_EVERY).unref();
}

/** V8 adds `gc` to contexts that are created while the flag is set. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  collect();
}
