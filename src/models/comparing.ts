import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { GuardError } from "../errors.ts";

/** What two texts are compared for by their vectors. */
export type Purpose = "topics" | "relevance";

const line = z.object({ scale: z.number(), offset: z.number() });
const linesSchema = z.object({ topics: line.optional(), relevance: line.optional(), support: line.optional() });
const configSchema = z.object({ guard: z.object({ comparing: linesSchema.optional() }).optional() });

/** The probability that two texts belong together, by the cosine of their vectors. */
export type Comparison = (cosine: number) => number;

/**
 * How a model's cosines become probabilities: by `sigmoid(scale * cosine + offset)` as `guard.comparing` of its `config.json`
 * says; without that, the cosine itself counts, as in llm-guard 0.3.16, and nothing that is below 0.
 *
 * @param folder the folder of the model; none where it has no configuration of its own.
 * @throws GuardError when the configuration cannot be used.
 */
export function comparisonOf(folder: string | undefined, purpose: Purpose): Comparison {
  const found = folder === undefined ? undefined : readLine(join(folder, "config.json"), purpose);
  if (!found) return (cosine) => Math.min(1, Math.max(0, cosine));
  const { scale, offset } = found;
  return (cosine) => sigmoid(scale * cosine + offset);
}

/**
 * How a model's probability of entailment becomes the score that a text has support: by `sigmoid(scale * logit(p) + offset)` as
 * `guard.comparing.support` of its `config.json` says; without that, the probability itself counts.
 *
 * @param folder the folder of the model; none where it has no configuration of its own.
 * @throws GuardError when the configuration cannot be used.
 */
export function supportOf(folder: string | undefined): (entailment: number) => number {
  const found = folder === undefined ? undefined : readLine(join(folder, "config.json"), "support");
  if (!found) return (entailment) => entailment;
  const { scale, offset } = found;
  return (entailment) => sigmoid(scale * Math.log(entailment / (1 - entailment)) + offset);
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

function readLine(path: string, purpose: keyof z.output<typeof linesSchema>): z.output<typeof line> | undefined {
  try {
    return configSchema.parse(JSON.parse(readFileSync(path, "utf8"))).guard?.comparing?.[purpose];
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : String(error);
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${reason}`, { cause: error });
  }
}

/** Numbers that are multiplied before other work gets its turn: some milliseconds. */
const TURN = 4_000_000;

/**
 * The highest cosine between one of some vectors and one of others, of the same model; -1 where there are none.
 *
 * @throws the signal's reason.
 */
export async function highestCosine(
  some: readonly (readonly number[])[],
  others: readonly (readonly number[])[],
  signal?: AbortSignal,
): Promise<number> {
  const [units, otherUnits] = [some.map(unit), others.map(unit)];
  let best = -1;
  let sinceTurn = 0;
  for (const a of units) {
    for (const b of otherUnits) {
      // A number that is none stays one: it must not read as far apart.
      best = Math.max(best, dot(a, b));
      sinceTurn += a.length;
      if (sinceTurn < TURN) continue;
      sinceTurn = 0;
      await nextTurn(undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    }
  }
  return best;
}

/** A vector of length one in the same direction; one of zeros stays. */
function unit(vector: readonly number[]): Float64Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return Float64Array.from(vector, (x) => x / length);
}

/** The cosine of the angle between two vectors of the same model; 0 where one of them is 0. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const squares = dot(a, a) * dot(b, b);
  return squares === 0 ? 0 : dot(a, b) / Math.sqrt(squares);
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let product = 0;
  for (let index = 0; index < a.length; index++) product += (a[index] as number) * (b[index] as number);
  return product;
}
