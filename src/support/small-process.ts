import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { addon } from "../native.ts";

/** Processors that share a heap of the C library. */
const SHARING = 4;

/**
 * Sets up a process for a server, which is to give back what a burst took. The program that decides about its process calls it when it
 * begins; the library never does.
 *
 * The young generation of V8's heap stays as small as it is at the start: otherwise it grows to 16 MB two or three times over while modules
 * are loaded, and never shrinks. A process whose command line or `NODE_OPTIONS` says how large it may become is left alone.
 *
 * Threads share heaps of the C library: otherwise each has its own, with room of its own between blocks that are in use. A process
 * with `MALLOC_ARENA_MAX` is left alone.
 */
export function keepProcessSmall(): void {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (!/semi[-_]space/.test(flags)) setFlagsFromString("--semi-space-growth-factor=1");
  if (process.env.MALLOC_ARENA_MAX === undefined)
    addon.limitHeaps(Math.max(1, Math.round(availableParallelism() / SHARING)));
}
