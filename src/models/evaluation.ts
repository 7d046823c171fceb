import { join } from "node:path";
import { z } from "zod";
import { GuardError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { readModelFile } from "./manifest.ts";

/** The file beside a model's weights that says how often it is wrong. `npm run eval -- --write-cards` writes it. */
export const EVALUATION_FILE = "evaluation.json";

/**
 * Pairs of a rate of false positives and a threshold. A file has thousands of them, which a schema of tuples takes four times as long to
 * check while a server starts.
 */
const points = lazy(() =>
  z.array(z.custom<[rate: number, threshold: number]>(isPoint, "expected a rate and a threshold, from 0 to 1")),
);

function isPoint(value: unknown): boolean {
  const isShare = (part: unknown) => typeof part === "number" && part >= 0 && part <= 1;
  return Array.isArray(value) && value.length === 2 && value.every(isShare);
}

/** A curve of false positives of one scanner that uses the model. */
const curveSchema = lazy(() =>
  z.object({
    scanner: z.string(),
    /** The options of the scanner, other than model and threshold, that the probabilities come from. */
    settings: z.record(z.string(), z.unknown()),
    /** How many harmless texts were scanned. The curve says nothing about rates below 1 / rows. */
    rows: z.int().min(1),
    /** How many of these texts came from each source. */
    sources: z.record(z.string(), z.int()),
    /**
     * Pairs of a rate of false positives and a threshold, by rising rate: that share of the harmless texts has a probability
     * above the threshold.
     */
    points: points().min(1),
  }),
);
export type Curve = z.output<ReturnType<typeof curveSchema>>;

/**
 * The threshold that a curve gives for a rate of false positives. It is undefined if all points of the curve are above the
 * rate.
 */
export function thresholdOf({ points }: Pick<Curve, "points">, rate: number): number | undefined {
  return points.findLast(([measured]) => measured <= rate)?.[1];
}

/** How often a scanner takes harmless texts in one language for bad ones, and whether it tells the two apart there. */
const languageCurveSchema = lazy(() =>
  z.object({
    scanner: z.string(),
    /** The head of the model that answers, where the scanner asks several; otherwise the one that it asks. */
    head: z.string().optional(),
    /** The code of the language as the detector names it: ISO 639-1, or `und-` and a script. */
    language: z.string(),
    /** How many harmless texts were scanned. */
    rows: z.int().min(1),
    /**
     * Pairs of a rate of false positives and a threshold, by falling rate: that share of the harmless texts in the language has a
     * probability above the threshold, as the model says it.
     */
    points: points().min(2),
    /** How many bad texts in the language were scanned, and the area under the ROC curve; absent where there were none to scan. */
    bad: z.object({ rows: z.int().min(1), auc: z.number().min(0).max(1) }).optional(),
    /** Whether the probabilities say anything about texts in the language. */
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
    /** What the scanners of the model do in single languages. */
    languages: z.array(languageCurveSchema()).default([]),
  }),
);
/** The evaluation that a model brings along. */
export type Evaluation = z.output<ReturnType<typeof evaluationSchema>>;

/**
 * Reads a model's evaluation.
 *
 * @returns nothing where the model has none.
 * @throws GuardError when the file is there and cannot be used, or differs from the manifest of the folder.
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

/** What a model's `config.json` says of the model itself. */
export interface ModelIdentity {
  name?: string;
  version?: string;
  /** The folder of the weights that it shares with other models. */
  external_data?: string;
  /** The languages that it was trained and measured in: ISO 639-1 codes, or `und-` and a script whose languages cannot be told. */
  languages?: string[];
  /** Its heads; the languages of a head come before those of the model. */
  heads?: { name: string; languages?: string[] }[];
  /** The heads that screen texts `for` a head of another model, which has this name and version. */
  screens?: { head: string; model: string; version: string; for: string }[];
}

/** Reads what a model's `config.json` says of the model itself. */
export function modelIdentity(folder: string): ModelIdentity {
  const content = readModelFile(folder, "config.json");
  if (content === undefined)
    throw new GuardError("GUARD_MODEL", `the model file ${join(folder, "config.json")} is missing`);
  return JSON.parse(content).guard ?? {};
}

/**
 * The languages that a head of a model was trained and measured in: ISO 639-1 codes, or `und-` and a script whose languages cannot be
 * told. Undefined where the model does not say, as models of others do not.
 */
export function trainedLanguages(folder: string, head?: string): readonly string[] | undefined {
  const { languages, heads = [] } = modelIdentity(folder);
  return heads.find(({ name }) => name === head)?.languages ?? languages;
}
