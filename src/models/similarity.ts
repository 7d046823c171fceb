import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "zod";
import type { Abortable } from "../native.ts";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** What a cosine is compared for. */
export type Purpose = "topics" | "relevance";

const calibrationSchema = lazy(() => z.object({ scale: z.number().positive(), offset: z.number() }));
const calibrationsSchema = lazy(() =>
  z.object({
    topics: calibrationSchema().optional(),
    relevance: calibrationSchema().extend({ pair: z.number().positive().optional() }).optional(),
    support: calibrationSchema().optional(),
  }),
);
const configSchema = lazy(() =>
  z.object({ guard: z.object({ comparing: calibrationsSchema().optional() }).optional() }),
);

type Calibration = z.output<ReturnType<typeof calibrationSchema>>;
type Calibrations = z.output<ReturnType<typeof calibrationsSchema>>;

/**
 * Converts the cosine of two embeddings into the probability that the texts match. `together` is the probability from a head that read both
 * texts at once, if the model has one.
 */
export type Comparison = (cosine: number, together?: number) => number;

/**
 * Reads how the cosines of a model become probabilities.
 *
 * - With a scale and an offset in `guard.comparing` of its `config.json`: `sigmoid(scale * cosine + offset)`.
 * - Without them: the cosine itself, as in llm-guard 0.3.16, and 0 for a negative cosine.
 * - If a head read both texts at once, its probability counts instead, or together with the cosine if the configuration has `pair`:
 *   `sigmoid(scale * cosine + pair * logit(together) + offset)`.
 *
 * @param folder the folder of the model; undefined for a model without a configuration of its own.
 * @throws GuardError if the configuration is invalid.
 */
export function readComparison(folder: string | undefined, purpose: Purpose): Comparison {
  const found: (Calibration & { pair?: number | undefined }) | undefined =
    folder === undefined ? undefined : readCalibration(folder, purpose);
  if (!found) return (cosine, together) => together ?? Math.min(1, Math.max(0, cosine));
  const { scale, offset, pair } = found;
  return (cosine, together) => {
    const line = scale * cosine + offset;
    if (together === undefined) return sigmoid(line);
    return pair === undefined ? together : sigmoid(line + pair * logit(together));
  };
}

/**
 * Reads how a model's probability of entailment becomes a support score. With a scale and an offset in `guard.comparing.support` of its
 * `config.json`, the score is `sigmoid(scale * logit(p) + offset)`. Otherwise it is the probability itself.
 *
 * @param folder the folder of the model; undefined for a model without a configuration of its own.
 * @throws GuardError if the configuration is invalid.
 */
export function readSupportScale(folder: string | undefined): (entailment: number) => number {
  const found = folder === undefined ? undefined : readCalibration(folder, "support");
  if (!found) return (entailment) => entailment;
  const { scale, offset } = found;
  return (entailment) => sigmoid(scale * logit(entailment) + offset);
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

function logit(probability: number): number {
  return Math.log(probability / (1 - probability));
}

function readCalibration<P extends keyof Calibrations>(folder: string, purpose: P): Calibrations[P] {
  const path = join(folder, "config.json");
  const content = readModelFile(folder, "config.json");
  try {
    return configSchema().parse(JSON.parse(content ?? "")).guard?.comparing?.[purpose];
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : String(error);
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${reason}`, { cause: error });
  }
}

/** How many multiplications run before the event loop continues. They take a few milliseconds. */
const MULTIPLICATIONS_PER_SLICE = 4_000_000;

/**
 * Visits the cosine of each vector of one list with each vector of another list. The cosine with a zero vector is 0.
 *
 * @param visit called with the indices of two vectors and their cosine.
 * @throws the reason of the signal.
 */
export async function visitCosines(
  some: readonly (readonly number[])[],
  others: readonly (readonly number[])[],
  visit: (a: number, b: number, cosine: number) => void,
  { signal }: Abortable = {},
): Promise<void> {
  const otherUnits = others.map(normalize);
  let count = 0;
  for (const [a, vector] of some.entries()) {
    const one = normalize(vector);
    for (const [b, other] of otherUnits.entries()) {
      visit(a, b, dot(one, other));
      count += one.length;
      if (count < MULTIPLICATIONS_PER_SLICE) continue;
      count = 0;
      await nextTick(undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    }
  }
}

/** Scales a vector to length 1. A zero vector stays as it is. */
function normalize(vector: readonly number[]): Float64Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return Float64Array.from(vector, (x) => x / length);
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let product = 0;
  for (let index = 0; index < a.length; index++) product += (a[index] as number) * (b[index] as number);
  return product;
}
