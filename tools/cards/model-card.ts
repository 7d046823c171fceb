import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { group } from "d3-array";
import { UsageError } from "../../src/cli/command.ts";
import { type Evaluation, type Measurement, sideOf } from "../../src/cli/eval/measure.ts";
import { countAbove, ranksOf } from "../../src/cli/eval/metrics.ts";
import { defaultEngine } from "../../src/models/engine.ts";
import {
  type Curve,
  EVALUATION_FILE,
  type Evaluation as ModelEvaluation,
  readEvaluation,
  readModelIdentity,
  thresholdAt,
} from "../../src/models/evaluation.ts";
import { createManifest, MANIFEST } from "../../src/models/manifest.ts";
import { scannerClasses } from "../../src/scanners/catalog.ts";
import type { ScannerClass } from "../../src/scanners/definition.ts";
import type { RecognizerConf } from "../../src/scanners/parts/ner-model.ts";
import { settingsOf } from "../../src/scanners/parts/threshold.ts";
import { fromSnakeCase, parseOptions, toSnakeCase } from "../../src/support/options.ts";
import { markdownTables } from "./tables.ts";

/** The file beside a model that describes it. */
const CARD = "CARD.md";

/** Rates of false positives whose thresholds a card shows, if there are enough texts to measure them. */
const RATES = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/** The folder of the model that a scanner uses; undefined if it uses no model, or several. */
export function modelFolderOf({ scanner, side, params }: Evaluation): string | undefined {
  const options = scannerClasses(sideOf(scanner, side)).get(scanner)?.options;
  if (!options) return undefined;
  const { model: modelOption, recognizerConf } = options.shape;
  const given = fromSnakeCase(options, params) as { model?: unknown; recognizerConf?: unknown };
  if (modelOption) return defaultEngine().folder(parseOptions(modelOption as never, given.model));
  if (!recognizerConf) return undefined;
  const [only, more] = parseOptions(recognizerConf as RecognizerConf, given.recognizerConf);
  const model = only && !more ? only.defaultModel : undefined;
  return typeof model === "string" ? defaultEngine().folder(model) : undefined;
}

/**
 * Checks that the results of a model can be written beside it.
 *
 * @throws UsageError if the model has no name and version, or its card has no marks.
 */
export function checkCard(folder: string): void {
  readTarget(folder);
}

interface CardTarget {
  name: string;
  version: string;
  /** Replaces the tables between the marks of the card; absent if the model has no card. */
  writeTables?: (tables: string) => string;
}

function readTarget(folder: string): CardTarget {
  const { name, version } = readModelIdentity(folder);
  if (!name || !version) throw new UsageError(`${join(folder, "config.json")} has no guard.name and guard.version`);
  const writeTables = cardSection(folder, "eval");
  return { name, version, ...(writeTables ? { writeTables } : {}) };
}

/**
 * A function that replaces the text between the marks `<!-- NAME -->` and `<!-- /NAME -->` of a model's card and returns the path of
 * the card; undefined if the model has no card.
 *
 * @throws UsageError if the card has no such marks.
 */
export function cardSection(folder: string, name: string): ((text: string) => string) | undefined {
  const card = join(folder, CARD);
  if (!existsSync(card)) return undefined;
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const old = readFileSync(card, "utf8");
  const [from, to] = [old.indexOf(begin), old.indexOf(end)];
  if (from < 0 || to < from) throw new UsageError(`${card} has no lines ${begin} and ${end} to write between`);
  return (text) => {
    writeFileSync(card, `${old.slice(0, from)}${begin}\n${text}\n${old.slice(to)}`);
    return card;
  };
}

/**
 * Writes the results of a model beside it: its curves of false positives into `evaluation.json`, the tables into `CARD.md`.
 *
 * @returns the paths of the files that were written.
 * @throws UsageError as {@link checkCard} does.
 */
export function writeCard(folder: string, measurements: readonly Measurement[]): string[] {
  const { name, version, writeTables } = readTarget(folder);
  const date = new Date().toISOString().slice(0, 10);
  const curves = measurements.flatMap((one) => (one.evaluation.curve ? [{ ...one, curve: curveOf(one) }] : []));
  const written: string[] = [];
  if (writeTables) {
    const parts = [
      `Of version ${version}, measured on ${date} by \`npm run eval -- --write-cards\`, in percent. \`guard-scan help eval\` explains the columns.`,
      ...measurements.map(({ result }) => markdownTables(result)),
      ...curves.map(thresholdTable),
    ];
    written.push(writeTables(parts.join("\n\n")));
  }
  if (curves.length > 0) {
    const model = { name, version, sha256: hashOfWeights(folder) };
    const known = readEvaluation(folder);
    const languages = known?.model.version === version ? known.languages : [];
    written.push(writeEvaluation(folder, { model, date, curves: curves.map(({ curve }) => curve), languages }));
  }
  return [...written, ...renewManifest(folder)];
}

/** Writes the manifest of a model's folder again, if it has one, and returns the paths that were written. */
export function renewManifest(folder: string): string[] {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return [];
  writeFileSync(path, createManifest(folder));
  return [path];
}

/** The harmless texts on which the curve of an evaluation is measured. */
function harmlessOf({ evaluation: { curve }, outcomes }: Measurement): Measurement["outcomes"] {
  const wanted = curve === true ? [] : Object.entries(curve ?? {});
  return outcomes.filter(
    ({ positive, row }) => !positive && wanted.every(([field, values]) => values.includes(String(row.fields[field]))),
  );
}

function curveOf(measurement: Measurement): Curve {
  const { evaluation, result } = measurement;
  const harmless = harmlessOf(measurement);
  if (harmless.length === 0) throw new UsageError(`${result.name}: no harmless text for the curve`);
  if (harmless[0]?.probability === undefined) throw new UsageError(`${result.name} has no probability for a curve`);
  const [field = ""] = Object.keys(result.by);
  const sources = group(harmless, ({ row }) => String(row.fields[field] ?? result.file));
  const { options } = scannerClasses(result.side).get(evaluation.scanner) as ScannerClass;
  return {
    scanner: evaluation.scanner,
    settings: settingsOf(options, parseOptions(options, fromSnakeCase(options, evaluation.params))),
    rows: harmless.length,
    sources: Object.fromEntries([...sources].map(([source, rows]) => [source, rows.length]).sort()),
    points: falsePositiveCurve(ranksOf(harmless, false)),
  };
}

/** The ratio of the rates of neighbouring points of a {@link falsePositiveCurve}: a rate in between is rounded down by at most this. */
const STEP = 1.05;

/**
 * Pairs of a rate of false positives, up to one half, and the threshold at which that share of the harmless texts fails, by rising
 * rate.
 *
 * @param harmless ascending ranks.
 */
export function falsePositiveCurve(harmless: Float64Array): [number, number][] {
  const points: [number, number][] = [];
  for (let failing = 0; failing <= harmless.length / 2; failing = Math.max(failing + 1, Math.floor(failing * STEP))) {
    const threshold = harmless[harmless.length - 1 - failing];
    if (threshold === undefined) break;
    if (threshold === points.at(-1)?.[1]) continue;
    points.push([countAbove(harmless, threshold) / harmless.length, threshold]);
  }
  return points;
}

/** A table of the thresholds for some rates of false positives, with the recall at each. */
function thresholdTable({ result, outcomes, curve }: Measurement & { curve: Curve }): string {
  const [positives, negatives] = [ranksOf(outcomes, true), ranksOf(outcomes, false)];
  const above = (ranks: Float64Array, threshold: number) =>
    ((countAbove(ranks, threshold) * 100) / ranks.length).toFixed(2);
  const { minimum } = (scannerClasses(result.side).get(result.scanner) as ScannerClass).definition;
  const option = toSnakeCase(minimum ?? "threshold");
  const rows = RATES.filter((rate) => rate * curve.rows >= 1).map((rate) => {
    const threshold = thresholdAt(curve, rate) as number;
    const value = minimum === undefined ? threshold : 1 - threshold;
    return `| ${rate} | ${Number(value.toPrecision(9))} | ${above(positives, threshold)} | ${above(negatives, threshold)} |`;
  });
  return `### Thresholds of ${result.name} by false positives

On ${curve.rows} harmless texts of ${Object.keys(curve.sources).join(", ")}: \`${option}: {fpr: 0.01}\` in scanners.yml takes them from here.

| fpr | ${option} | recall | fpr on all harmless rows |
| --- | --- | --- | --- |
${rows.join("\n")}`;
}

/** SHA-256 of a model's files with weights, one after the other, then of the weights and layers that it shares with other models. */
export function hashOfWeights(folder: string): string {
  const hash = createHash("sha256");
  const { external_data: words, shared_layers: layers } = readModelIdentity(folder);
  const shared = [words, layers === undefined ? undefined : dirname(layers)].filter((path) => path !== undefined);
  for (const each of [folder, ...shared.map((path) => join(folder, path))]) {
    const files = readdirSync(each, { recursive: true, encoding: "utf8" }).filter((file) => /\.(onnx|bin)$/.test(file));
    for (const file of files.sort()) hash.update(readFileSync(join(each, file)));
  }
  return hash.digest("hex");
}

/**
 * Writes `evaluation.json` with each pair of a curve on one line, so that the file is short and a diff shows which pair changed.
 *
 * @returns the path of the file.
 */
export function writeEvaluation(folder: string, evaluation: ModelEvaluation): string {
  const path = join(folder, EVALUATION_FILE);
  const text = JSON.stringify(evaluation, null, 2);
  writeFileSync(path, `${text.replace(/\[\s+([\d.e-]+),\s+([\d.e-]+)\s+\]/g, "[$1, $2]")}\n`);
  return path;
}
