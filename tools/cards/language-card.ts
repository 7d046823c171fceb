import { type LanguageCurve, readEvaluation, readModelIdentity } from "../../src/models/evaluation.ts";
import { cardSection, hashOfWeights, renewManifest, writeEvaluation } from "./model-card.ts";

/** The curve of a scanner in one language. */
export type MeasuredLanguage = LanguageCurve & {
  /** Share of the harmless texts that fail at the default threshold. */
  flagged: number;
  /** Whether the curve corrects probabilities in this language. The reference of all curves has to be among those that do. */
  isCorrected: boolean;
};

/**
 * Writes the results of a model's scanners by language: the curves into its `evaluation.json`, and a table into its card.
 *
 * @returns the paths of the files that were written.
 * @throws UsageError if the card has no marks to write between.
 */
export function writeLanguages(folder: string, measured: readonly MeasuredLanguage[]): string[] {
  const { name = "", version = "" } = readModelIdentity(folder);
  const known = readEvaluation(folder);
  const current = known?.model.version === version ? known : undefined;
  const scanners = new Set(measured.map(({ scanner }) => scanner));
  const others = (current?.languages ?? []).filter(({ scanner }) => !scanners.has(scanner));
  const languages = measured
    .filter(({ isCorrected }) => isCorrected)
    .map(({ scanner, head, language, rows, points, bad, separates }) => ({
      scanner,
      ...(head ? { head } : {}),
      ...{ language, rows, points },
      ...(bad ? { bad } : {}),
      separates,
    }));
  const writeTable = cardSection(folder, "languages");
  const evaluation = writeEvaluation(folder, {
    model: { name, version, sha256: hashOfWeights(folder) },
    date: current?.date ?? new Date().toISOString().slice(0, 10),
    curves: current?.curves ?? [],
    languages: [...others, ...languages],
  });
  return [evaluation, ...(writeTable ? [writeTable(languageTable(measured))] : []), ...renewManifest(folder)];
}

/** A table with a row for each language and a column for each scanner or head. */
function languageTable(measured: readonly MeasuredLanguage[]): string {
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
