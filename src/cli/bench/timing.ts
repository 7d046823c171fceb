import { quantileSorted } from "d3-array";

/** A scanner that takes this many milliseconds or more for a text of 1,000 characters counts as slow. */
export const SLOW = 5;

/** The number of calls, the calls per second, and percentiles of their times in milliseconds. */
export interface Timing {
  calls: number;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
}

/** How calls are measured. */
export interface TimingOptions {
  /** Seconds after which no more calls start. */
  seconds: number;
  /** The number of concurrent calls. Default: 1. */
  concurrency?: number;
  /** The minimum number of calls, however long they take. Default: the concurrency. */
  minCalls?: number;
}

/**
 * Measures calls. The first call warms up and is not counted.
 *
 * @param call makes one call; its argument is the number of the call, from 0.
 */
export async function timed(
  call: (index: number) => Promise<unknown>,
  { seconds, concurrency = 1, minCalls = concurrency }: TimingOptions,
): Promise<Timing> {
  await call(0);
  const times: number[] = [];
  let started = 0;
  const start = performance.now();
  const end = start + seconds * 1000;
  const work = async () => {
    while (started < minCalls || performance.now() < end) {
      const index = ++started;
      const from = performance.now();
      await call(index);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const elapsed = performance.now() - start;
  times.sort((a, b) => a - b);
  const percentile = (share: number) => quantileSorted(times, share) ?? 0;
  return {
    calls: times.length,
    perSecond: (times.length * 1000) / elapsed,
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
  };
}

/** Formats milliseconds with three digits: `0.012`, `3.41`, `120`. */
export function formatMilliseconds(value: number): string {
  if (value < 0.001) return "<0.001";
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : value.toFixed(3);
}
