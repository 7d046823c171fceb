import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import type { Abortable } from "../native.ts";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** The purpose for which the vectors of two texts are compared. */
export type Purpose = "topics" | "relevance";

const lineSchema = lazy(() => z.object({ scale: z.number().positive(), offset: z.number() }));
const linesSchema = lazy(() =>
  z.object({
    topics: lineSchema().optional(),
    relevance: lineSchema().extend({ pair: z.number().positive().optional() }).optional(),
    support: lineSchema().optional(),
  }),
);
const configSchema = lazy(() => z.object({ guard: z.object({ comparing: linesSchema().optional() }).optional() }));

type Line = z.output<ReturnType<typeof lineSchema>>;
type Lines = z.output<ReturnType<typeof linesSchema>>;

/**
 * Turns the cosine of the vectors of two texts into the probability that the texts belong together. `together` is the probability
 * that a head gave which read both texts at once, where the model has such a head.
 */
export type Comparison = (cosine: number, together?: number) => number;

/**
 * Tells how a model's cosines become probabilities. If `guard.comparing` of its `config.json` gives a scale and an offset, the
 * probability is `sigmoid(scale * cosine + offset)`. Otherwise it is the cosine itself, as in llm-guard 0.3.16, and 0 for a
 * negative cosine. What a head says that read both texts counts instead, or together with the cosine where the configuration also
 * gives `pair`: `sigmoid(scale * cosine + pair * logit(together) + offset)`.
 *
 * @param folder the folder of the model; none where it has no configuration of its own.
 * @throws GuardError when the configuration cannot be used.
 */
export function comparisonOf(folder: string | undefined, purpose: Purpose): Comparison {
  const found: (Line & { pair?: number | undefined }) | undefined =
    folder === undefined ? undefined : readLine(folder, purpose);
  if (!found) return (cosine, together) => together ?? Math.min(1, Math.max(0, cosine));
  const { scale, offset, pair } = found;
  return (cosine, together) => {
    const line = scale * cosine + offset;
    if (together === undefined) return sigmoid(line);
    return pair === undefined ? together : sigmoid(line + pair * logit(together));
  };
}

/**
 * Tells how a model's probability of entailment becomes the score that a text has support. If `guard.comparing.support` of its
 * `config.json` gives a scale and an offset, the score is `sigmoid(scale * logit(p) + offset)`. Otherwise it is the probability
 * itself.
 *
 * @param folder the folder of the model; none where it has no configuration of its own.
 * @throws GuardError when the configuration cannot be used.
 */
export function supportOf(folder: string | undefined): (entailment: number) => number {
  const found = folder === undefined ? undefined : readLine(folder, "support");
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

function readLine<P extends keyof Lines>(folder: string, purpose: P): Lines[P] {
  const path = join(folder, "config.json");
  const content = readModelFile(folder, "config.json");
  try {
    return configSchema().parse(JSON.parse(content ?? "")).guard?.comparing?.[purpose];
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : String(error);
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${reason}`, { cause: error });
  }
}

/** How many numbers are multiplied before other work of the event loop gets its turn. This many take a few milliseconds. */
const TURN = 4_000_000;

/**
 * Visits the cosines between each vector of one list and each vector of another list, all from the same model. The cosine is 0
 * if one of the two vectors is all zeros.
 *
 * @param visit called with the indices of two vectors and their cosine.
 * @throws the signal's reason.
 */
export async function eachCosine(
  some: readonly (readonly number[])[],
  others: readonly (readonly number[])[],
  visit: (a: number, b: number, cosine: number) => void,
  { signal }: Abortable = {},
): Promise<void> {
  const otherUnits = others.map(unit);
  let sinceTurn = 0;
  for (const [a, vector] of some.entries()) {
    const one = unit(vector);
    for (const [b, other] of otherUnits.entries()) {
      visit(a, b, dot(one, other));
      sinceTurn += one.length;
      if (sinceTurn < TURN) continue;
      sinceTurn = 0;
      await nextTurn(undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    }
  }
}

/** A vector of length one in the same direction; a vector of zeros stays as it is. */
function unit(vector: readonly number[]): Float64Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return Float64Array.from(vector, (x) => x / length);
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let product = 0;
  for (let index = 0; index < a.length; index++) product += (a[index] as number) * (b[index] as number);
  return product;
}
