import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { group } from "d3-array";
import { defaultEngine } from "../models/engine.ts";
import {
  type Curve,
  EVALUATION_FILE,
  type Evaluation as ModelEvaluation,
  modelIdentity,
  readEvaluation,
  thresholdOf,
} from "../models/evaluation.ts";
import { MANIFEST, manifestOf } from "../models/manifest.ts";
import { scannerClasses } from "../scanners/catalog.ts";
import type { ScannerClass } from "../scanners/define.ts";
import type { RecognizerConf } from "../scanners/parts/ner-model.ts";
import { settingsOf } from "../scanners/parts/threshold.ts";
import { fromSnakeCase, parseOptions, toSnakeCase } from "../support/options.ts";
import { UsageError } from "./command.ts";
import { type Evaluation, type Measurement, sideOf } from "./measure.ts";
import { countAbove, falsePositiveCurve, ranksOf } from "./metrics.ts";
import { markdownTables } from "./tables.ts";

/** The file beside a model that describes it. */
export const CARD = "CARD.md";
const [BEGIN, END] = ["<!-- eval -->", "<!-- /eval -->"];

/** Rates whose thresholds a card shows, where there are texts enough to tell. */
const RATES = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/** The folder of the model that a scanner uses; undefined where it uses no model, or several. */
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

/** What is needed to write down how a model did. */
interface CardPlace {
  name: string;
  version: string;
  /** The card before and behind the marks; absent where the model has no card. */
  around?: [string, string];
}

/**
 * Looks where the results of a model will go, so that nobody waits for them in vain.
 *
 * @throws UsageError when the model does not say what it is, or its card has no place for the tables.
 */
export function cardPlace(folder: string): CardPlace {
  const { name, version } = modelIdentity(folder);
  if (!name || !version) throw new UsageError(`${join(folder, "config.json")} says no guard.name and guard.version`);
  const card = join(folder, CARD);
  if (!existsSync(card)) return { name, version };
  const text = readFileSync(card, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new UsageError(`${card} has no lines ${BEGIN} and ${END} to write between`);
  return { name, version, around: [text.slice(0, begin), text.slice(end)] };
}

/**
 * Writes down beside a model how it did: its curves of false positives in `evaluation.json`, the tables between the two marks of
 * `CARD.md`.
 *
 * @returns the paths of the files that were written.
 * @throws UsageError as {@link cardPlace} does.
 */
export function writeCard(folder: string, measured: readonly (Measurement & { item: Evaluation })[]): string[] {
  const { name, version, around } = cardPlace(folder);
  const date = new Date().toISOString().slice(0, 10);
  const curves = measured.flatMap((one) => (one.item.curve ? [{ ...one, curve: curveOf(one) }] : []));
  const written: string[] = [];
  const write = (file: string, content: string) => {
    writeFileSync(join(folder, file), content);
    written.push(join(folder, file));
  };

  if (around) {
    const parts = [
      `Of version ${version}, measured on ${date} by \`guard eval --write-cards\`, in percent; \`guard help eval\` says what the columns are.`,
      ...measured.map(({ result }) => markdownTables(result)),
      ...curves.map(thresholdTable),
    ];
    write(CARD, `${around[0]}${BEGIN}\n${parts.join("\n\n")}\n${around[1]}`);
  }
  if (curves.length > 0) {
    const model = { name, version, sha256: hashOfWeights(folder) };
    const known = readEvaluation(folder);
    const languages = known?.model.version === version ? known.languages : [];
    write(EVALUATION_FILE, evaluationText({ model, date, curves: curves.map(({ curve }) => curve), languages }));
  }
  return [...written, ...renewManifest(folder)];
}

/** Writes the manifest of a model's folder anew, if it has one, and returns the paths that were written. */
export function renewManifest(folder: string): string[] {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return [];
  writeFileSync(path, manifestOf(folder));
  return [path];
}

/** The harmless texts that the curve of an evaluation rests on. */
function harmlessOf({ item, outcomes }: Measurement & { item: Evaluation }): Measurement["outcomes"] {
  const wanted = item.curve === true ? [] : Object.entries(item.curve ?? {});
  return outcomes.filter(
    ({ positive, row }) => !positive && wanted.every(([field, values]) => values.includes(String(row.fields[field]))),
  );
}

function curveOf(measurement: Measurement & { item: Evaluation }): Curve {
  const { item, result } = measurement;
  const harmless = harmlessOf(measurement);
  if (harmless.length === 0) throw new UsageError(`${result.name}: no harmless text for the curve`);
  if (harmless[0]?.probability === undefined) throw new UsageError(`${result.name} has no probability for a curve`);
  const [field = ""] = Object.keys(result.by);
  const sources = group(harmless, ({ row }) => String(row.fields[field] ?? result.file));
  const { options } = scannerClasses(result.side).get(item.scanner) as ScannerClass;
  return {
    scanner: item.scanner,
    settings: settingsOf(options, parseOptions(options, fromSnakeCase(options, item.params))),
    rows: harmless.length,
    sources: Object.fromEntries([...sources].map(([source, rows]) => [source, rows.length]).sort()),
    points: falsePositiveCurve(ranksOf(harmless, false)),
  };
}

/** The thresholds for some rates, and what they find. */
function thresholdTable(measurement: Measurement & { item: Evaluation; curve: Curve }): string {
  const { result, outcomes, curve } = measurement;
  const [positives, negatives] = [ranksOf(outcomes, true), ranksOf(outcomes, false)];
  const above = (ranks: Float64Array, threshold: number) =>
    ((countAbove(ranks, threshold) * 100) / ranks.length).toFixed(2);
  const { minimum } = (scannerClasses(result.side).get(result.scanner) as ScannerClass).definition;
  const option = toSnakeCase(minimum ?? "threshold");
  const rows = RATES.filter((rate) => rate * curve.rows >= 1).map((rate) => {
    const threshold = thresholdOf(curve, rate) as number;
    const value = minimum === undefined ? threshold : 1 - threshold;
    return `| ${rate} | ${Number(value.toPrecision(9))} | ${above(positives, threshold)} | ${above(negatives, threshold)} |`;
  });
  return `### Thresholds of ${result.name} by false positives

On ${curve.rows} harmless texts of ${Object.keys(curve.sources).join(", ")}: \`${option}: {fpr: 0.01}\` in scanners.yml takes them from here.

| fpr | ${option} | recall | fpr on all harmless rows |
| --- | --- | --- | --- |
${rows.join("\n")}`;
}

/** SHA-256 over the files with weights, one after the other, then those that the model has in common with others. */
export function hashOfWeights(folder: string): string {
  const hash = createHash("sha256");
  const { external_data: common } = modelIdentity(folder);
  for (const each of [folder, ...(common === undefined ? [] : [join(folder, common)])]) {
    const files = readdirSync(each, { recursive: true, encoding: "utf8" }).filter((file) => /\.(onnx|bin)$/.test(file));
    for (const file of files.sort()) hash.update(readFileSync(join(each, file)));
  }
  return hash.digest("hex");
}

/** JSON with each pair of a curve on one line, so that the file is short and a diff shows which pair changed. */
export function evaluationText(evaluation: ModelEvaluation): string {
  const text = JSON.stringify(evaluation, null, 2);
  return `${text.replace(/\[\s+([\d.e-]+),\s+([\d.e-]+)\s+\]/g, "[$1, $2]")}\n`;
}
