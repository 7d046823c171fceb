import { join } from "node:path";
import { z } from "zod";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** The file with a model's error rates. `npm run eval -- --write-cards` writes it. */
export const EVALUATION_FILE = "evaluation.json";

/**
 * Pairs of a false positive rate and a threshold. A file has thousands of them, and a schema of tuples would take four times as long to
 * validate them when a server starts.
 */
const points = lazy(() =>
  z.array(z.custom<[rate: number, threshold: number]>(isPoint, "expected a rate and a threshold, from 0 to 1")),
);

function isPoint(value: unknown): boolean {
  const isShare = (part: unknown) => typeof part === "number" && part >= 0 && part <= 1;
  return Array.isArray(value) && value.length === 2 && value.every(isShare);
}

/** The false positive rates of one scanner with the model, by threshold. */
const curveSchema = lazy(() =>
  z.object({
    scanner: z.string(),
    /** The options of the scanner that the probabilities depend on, without model and threshold. */
    settings: z.record(z.string(), z.unknown()),
    /** How many benign texts were scanned. The curve has no information on rates below 1 / rows. */
    rows: z.int().min(1),
    /** How many of these texts came from each source. */
    sources: z.record(z.string(), z.int()),
    /**
     * Pairs of a false positive rate and a threshold, by rising rate. The rate is the share of benign texts with a probability above the
     * threshold.
     */
    points: points().min(1),
  }),
);
export type Curve = z.output<ReturnType<typeof curveSchema>>;

/** Returns the threshold of a curve for a false positive rate, or undefined if all points of the curve are above the rate. */
export function thresholdAt({ points }: Pick<Curve, "points">, rate: number): number | undefined {
  return points.findLast(([measured]) => measured <= rate)?.[1];
}

/** The false positive rates of a scanner in one language, and whether its probabilities separate benign from harmful texts there. */
const languageCurveSchema = lazy(() =>
  z.object({
    scanner: z.string(),
    /** The head of the model, if the scanner uses several. */
    head: z.string().optional(),
    /** The language code of the detector: ISO 639-1, or `und-` and a script. */
    language: z.string(),
    /** How many benign texts were scanned. */
    rows: z.int().min(1),
    /**
     * Pairs of a false positive rate and a threshold, by falling rate. The rate is the share of benign texts in the language with a raw
     * probability of the model above the threshold.
     */
    points: points().min(2),
    /** How many harmful texts in the language were scanned, and the area under the ROC curve. It is absent if there were none. */
    bad: z.object({ rows: z.int().min(1), auc: z.number().min(0).max(1) }).optional(),
    /** Whether the probabilities separate benign from harmful texts in the language. */
    separates: z.boolean(),
  }),
);
export type LanguageCurve = z.output<ReturnType<typeof languageCurveSchema>>;

const evaluationSchema = lazy(() =>
  z.object({
    model: z.object({
      name: z.string(),
      version: z.string(),
      /** SHA-256 of the weights in hexadecimal: which model was measured. */
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
    /** The day it was measured, in UTC. */
    date: z.iso.date(),
    curves: z.array(curveSchema()),
    /** The results of the model's scanners in single languages. */
    languages: z.array(languageCurveSchema()).default([]),
  }),
);
/** The evaluation in a model's folder. */
export type Evaluation = z.output<ReturnType<typeof evaluationSchema>>;

/**
 * Reads a model's evaluation.
 *
 * @returns undefined if the model has none.
 * @throws GuardError if the file is invalid or differs from the manifest of the folder.
 */
export function readEvaluation(folder: string): Evaluation | undefined {
  const path = join(folder, EVALUATION_FILE);
  const content = readModelFile(folder, EVALUATION_FILE);
  if (content === undefined) return undefined;
  try {
    return evaluationSchema().parse(JSON.parse(content));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : String(error);
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${reason}`, { cause: error });
  }
}

/** The metadata of a model in its `config.json`. */
export interface ModelIdentity {
  name?: string;
  version?: string;
  /** The folder with weights that the model shares with others. */
  external_data?: string;
  /** The file with the lowest layers that the model shares with others. */
  shared_layers?: string;
  /** The languages that the model was trained and measured in: ISO 639-1 codes, or `und-` and a script whose languages look alike. */
  languages?: string[];
  /** The heads. The languages of a head take precedence over those of the model. */
  heads?: { name: string; languages?: string[] }[];
}

/** Reads the metadata of a model from its `config.json`. */
export function readModelIdentity(folder: string): ModelIdentity {
  const content = readModelFile(folder, "config.json");
  if (content === undefined)
    throw new GuardError("GUARD_MODEL", `the model file ${join(folder, "config.json")} is missing`);
  return JSON.parse(content).guard ?? {};
}

/**
 * Reads the languages that a head of a model was trained and measured in: ISO 639-1 codes, or `und-` and a script whose languages look
 * alike. It is undefined if the model does not state them, as third-party models do not.
 */
export function readTrainedLanguages(folder: string, head?: string): readonly string[] | undefined {
  const { languages, heads = [] } = readModelIdentity(folder);
  return heads.find(({ name }) => name === head)?.languages ?? languages;
}
