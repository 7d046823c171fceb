import { quantileSorted } from "d3-array";

/** Milliseconds for a text of a thousand characters from which on a scanner counts as slow. */
export const SLOW = 5;

/** How long calls took, in milliseconds, and how many ended in a second. */
export interface Timing {
  calls: number;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
}

/** How calls are made that are measured. */
export interface TimingOptions {
  /** Seconds after which no more calls begin. */
  seconds: number;
  /** How many calls run at the same time. */
  concurrency?: number;
  /** The fewest calls, however long they take. Default: 1 for each of those at the same time. */
  least?: number;
}

/**
 * Measures calls. The first call is not counted: it may load what later ones use.
 *
 * @param call makes one call; it is given the number of the call, from 0.
 */
export async function timed(
  call: (index: number) => Promise<unknown>,
  { seconds, concurrency = 1, least = concurrency }: TimingOptions,
): Promise<Timing> {
  await call(0);
  const times: number[] = [];
  let begun = 0;
  const start = performance.now();
  const end = start + seconds * 1000;
  const work = async () => {
    while (begun < least || performance.now() < end) {
      const index = ++begun;
      const from = performance.now();
      await call(index);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const took = performance.now() - start;
  times.sort((a, b) => a - b);
  const at = (share: number) => quantileSorted(times, share) ?? 0;
  return {
    calls: times.length,
    perSecond: (times.length * 1000) / took,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  };
}

/** Milliseconds with about three digits: `0.012`, `3.41`, `120`. */
export function milliseconds(value: number): string {
  if (value < 0.001) return "<0.001";
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : value.toFixed(3);
}
