import { quantileSorted } from "d3-array";
import type { EngineTimings } from "../../native.ts";

/** The median and the 95th percentile of some times, in milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
}

/** The engine time for a text, and the medians of its parts; see `EngineTimings`. */
export interface EngineSpread extends Spread, EngineTimings {}

/** The times of scans one after another, by three clocks. */
export interface Clocks {
  calls: number;
  /** From the call to its result. */
  wall: Spread;
  /** Processor time of all threads of this process; absent if another process scans. */
  cpu?: Spread;
  /** Time of models: waiting, tokenizing, and running; absent without a model. */
  engine?: EngineSpread;
}

/** The engine's timings by model. */
export type ModelTimings = Readonly<Record<string, EngineTimings>>;

/**
 * Measures calls one after another, by three clocks. First each text is called once to warm up, for example the rules of its language,
 * but for no longer than `seconds`.
 *
 * @param call makes one call; its argument is the number of the call, from 0. It returns the timings of the engine.
 * @param texts the number of different texts.
 * @param seconds after which no more calls start.
 */
export async function clocked(
  call: (index: number) => Promise<ModelTimings>,
  texts: number,
  seconds: number,
): Promise<Clocks> {
  const warmUpEnd = performance.now() + seconds * 1000;
  let index = 0;
  do await call(index++);
  while (index < texts && performance.now() < warmUpEnd);
  const wall: number[] = [];
  const cpu: number[] = [];
  const engine: EngineTimings[] = [];
  const end = performance.now() + seconds * 1000;
  do {
    const cpuBefore = process.cpuUsage();
    const from = performance.now();
    const models = await call(index++);
    wall.push(performance.now() - from);
    const { user, system } = process.cpuUsage(cpuBefore);
    cpu.push((user + system) / 1000);
    engine.push(sumTimings(models));
  } while (performance.now() < end);
  const median = (part: keyof EngineTimings) => spread(engine.map((timings) => timings[part])).p50;
  const total = engine.map(({ queued, tokenized, inferred }) => queued + tokenized + inferred);
  return {
    calls: wall.length,
    wall: spread(wall),
    cpu: spread(cpu),
    ...(total.some((time) => time > 0)
      ? {
          engine: {
            ...spread(total),
            queued: median("queued"),
            tokenized: median("tokenized"),
            inferred: median("inferred"),
          },
        }
      : {}),
  };
}

function sumTimings(models: ModelTimings): EngineTimings {
  const sum = { queued: 0, tokenized: 0, inferred: 0 };
  for (const { queued, tokenized, inferred } of Object.values(models)) {
    sum.queued += queued;
    sum.tokenized += tokenized;
    sum.inferred += inferred;
  }
  return sum;
}

function spread(times: readonly number[]): Spread {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50: quantileSorted(sorted, 0.5) ?? 0, p95: quantileSorted(sorted, 0.95) ?? 0 };
}
