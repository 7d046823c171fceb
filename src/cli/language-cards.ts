import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVALUATION_FILE, type LanguageCurve, modelIdentity, readEvaluation } from "../models/evaluation.ts";
import { CARD, evaluationText, hashOfWeights, renewManifest } from "./cards.ts";
import { UsageError } from "./command.ts";

const [BEGIN, END] = ["<!-- languages -->", "<!-- /languages -->"];

/**
 * A curve together with the share of harmless texts above the default threshold, and whether probabilities in the language are to be
 * corrected by the curve. The reference of all curves has to be among those that are.
 */
export type MeasuredLanguage = LanguageCurve & { flagged: number; isCorrected: boolean };

/**
 * Writes down what the scanners of a model do in single languages: into its `evaluation.json`, and as a table between the two marks
 * of its card.
 *
 * @param folder the folder of the model.
 * @returns the paths of the files that were written.
 * @throws UsageError when the card has no place for the table.
 */
export function writeLanguages(folder: string, measured: readonly MeasuredLanguage[]): string[] {
  const { name = "", version = "" } = modelIdentity(folder);
  const scanners = new Set(measured.map(({ scanner }) => scanner));
  const known = readEvaluation(folder);
  const isOfThese = known?.model.version === version;
  const others = isOfThese ? known.languages.filter(({ scanner }) => !scanners.has(scanner)) : [];
  const languages = measured
    .filter(({ isCorrected }) => isCorrected)
    .map(({ scanner, head, language, rows, points, bad, separates }) => ({
      scanner,
      ...(head ? { head } : {}),
      ...{ language, rows, points },
      ...(bad ? { bad } : {}),
      separates,
    }));
  const evaluation = {
    model: { name, version, sha256: hashOfWeights(folder) },
    date: isOfThese ? known.date : new Date().toISOString().slice(0, 10),
    curves: isOfThese ? known.curves : [],
    languages: [...others, ...languages],
  };
  const card = join(folder, CARD);
  const written = [join(folder, EVALUATION_FILE)];
  writeFileSync(join(folder, EVALUATION_FILE), evaluationText(evaluation));
  if (existsSync(card)) {
    const text = readFileSync(card, "utf8");
    const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
    if (begin < 0 || end < begin) throw new UsageError(`${card} has no lines ${BEGIN} and ${END} to write between`);
    writeFileSync(card, `${text.slice(0, begin)}${BEGIN}\n${tableOf(measured)}\n${text.slice(end)}`);
    written.push(card);
  }
  return [...written, ...renewManifest(folder)];
}

/** A row for each language, and the figures of each scanner and head. */
function tableOf(measured: readonly MeasuredLanguage[]): string {
  const nameOf = ({ scanner, head }: MeasuredLanguage) => (head ? `${scanner}, ${head}` : scanner);
  const scanners = [...new Set(measured.map(nameOf))];
  const languages = [...new Set(measured.map(({ language }) => language))].sort();
  const percent = (value: number) => (value * 100).toFixed(1);
  const cell = (curve: MeasuredLanguage | undefined) => {
    if (!curve) return "";
    const auc = curve.bad ? `, AUC ${percent(curve.bad.auc)}` : "";
    return `${percent(curve.flagged)}${auc}${curve.separates ? "" : ", not judged"}`;
  };
  const rows = languages.map((language) => {
    const ofLanguage = measured.filter((curve) => curve.language === language);
    const cells = scanners.map((scanner) => cell(ofLanguage.find((curve) => nameOf(curve) === scanner)));
    return `| ${[language, String(ofLanguage[0]?.rows ?? ""), ...cells].join(" | ")} |`;
  });
  return [
    `| language | harmless texts | ${scanners.join(" | ")} |`,
    `| --- | --- | ${scanners.map(() => "---").join(" | ")} |`,
    ...rows,
  ].join("\n");
}
