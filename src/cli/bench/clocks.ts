import { quantileSorted } from "d3-array";
import type { EngineTimings } from "../../native.ts";

/** The median and the 95th percentile of some times, in milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
}

/** The time of the engine for a text, and the medians of its parts; see `EngineTimings`. */
export interface EngineSpread extends Spread, EngineTimings {}

/** What scans took that ran one after another, by three clocks. */
export interface Clocks {
  calls: number;
  /** From the call to its result. */
  wall: Spread;
  /** Time of processors that the process used meanwhile, in all its threads; absent where another process scans. */
  cpu?: Spread;
  /** Time in which models waited, made tokens and ran; absent where no model was asked. */
  engine?: EngineSpread;
}

/** Where the engine's time went, by model. */
export type ByModel = Readonly<Record<string, EngineTimings>>;

/**
 * Measures calls one after another, by three clocks. The first calls are not counted: they may load what later ones use, such as the
 * rules of a language. They take no longer than what is measured.
 *
 * @param call makes one call; it is given the number of the call, from 0, and returns the times of the engine.
 * @param texts how many different texts there are: each is called once before it counts.
 * @param seconds after which no more calls begin.
 */
export async function clocked(
  call: (index: number) => Promise<ByModel>,
  texts: number,
  seconds: number,
): Promise<Clocks> {
  const latest = performance.now() + seconds * 1000;
  let index = 0;
  do await call(index++);
  while (index < texts && performance.now() < latest);
  const wall: number[] = [];
  const cpu: number[] = [];
  const engine: EngineTimings[] = [];
  const end = performance.now() + seconds * 1000;
  do {
    const used = process.cpuUsage();
    const from = performance.now();
    const models = await call(index++);
    wall.push(performance.now() - from);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1000);
    engine.push(together(models));
  } while (performance.now() < end);
  const ofEngine = (part: keyof EngineTimings) => spread(engine.map((timings) => timings[part])).p50;
  const total = engine.map(({ queued, tokenized, inferred }) => queued + tokenized + inferred);
  return {
    calls: wall.length,
    wall: spread(wall),
    cpu: spread(cpu),
    ...(total.some((time) => time > 0)
      ? {
          engine: {
            ...spread(total),
            queued: ofEngine("queued"),
            tokenized: ofEngine("tokenized"),
            inferred: ofEngine("inferred"),
          },
        }
      : {}),
  };
}

function together(models: ByModel): EngineTimings {
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
