import { writeFile } from "node:fs/promises";
import { UsageError } from "../command.ts";
import { csvLine } from "../csv.ts";
import { idOf } from "../subjects.ts";
import { comparedSpans, type Measured, topLabel } from "./measure.ts";

/** A text whose verdict differs from its label. */
interface WrongText {
  /** The name of the evaluation. */
  evaluation: string;
  file: string;
  /** The number of the text in its file, from 1. */
  row: number;
  /** The number of its line, from 1. */
  line: number;
  id?: string | number;
  /** `false_positive`, `false_negative`, `label` or `spans`. */
  kind: string;
  expected: string;
  got: string;
  score: number;
  probability?: number;
  text: string;
  prompt?: string;
}

const COLUMNS = [
  ...([
    "evaluation",
    "file",
    "row",
    "line",
    "id",
    "kind",
    "expected",
    "got",
    "score",
    "probability",
    "text",
    "prompt",
  ] as const),
];

/** How a file of wrong texts is written, by the end of its name. */
const WRITERS: Readonly<Record<string, (wrong: readonly WrongText[]) => string>> = {
  csv: (wrong) => [COLUMNS, ...wrong.map(cellsOf)].map(csvLine).join(""),
  jsonl: (wrong) => wrong.map((one) => `${JSON.stringify(one)}\n`).join(""),
  html: page,
};

/**
 * Checks the name of a file for wrong texts.
 *
 * @throws UsageError for a name with another end.
 */
export function checkFailuresName(file: string): void {
  if (!(endOf(file) in WRITERS)) throw new UsageError(`--failures: expected a file .csv, .jsonl or .html, got ${file}`);
}

/** Writes the texts whose verdicts differ from their labels. */
export async function writeFailures(file: string, measurements: readonly Measured[]): Promise<void> {
  await writeFile(file, (WRITERS[endOf(file)] as (typeof WRITERS)[string])(measurements.flatMap(wrongTexts)));
}

/** Writes a report in the format of JUnit, with a test case for each text, as CI systems read it. */
export async function writeJUnit(file: string, measurements: readonly Measured[]): Promise<void> {
  const suites = measurements.map((measurement) => {
    const { result, outcomes } = measurement;
    const wrong = new Map(wrongTexts(measurement).map((one) => [one.row, one]));
    const cases = outcomes.map(({ row }, index) => {
      const one = wrong.get(index + 1);
      const failure = one
        ? `<failure type=${attribute(one.kind)} message=${attribute(`expected ${one.expected}, got ${one.got}`)}>${markup(one.text)}</failure>`
        : "";
      const id = idOf(row.fields);
      const name = attribute(
        `${result.file}, row ${index + 1}, line ${row.line}${id === undefined ? "" : `, id ${id}`}`,
      );
      return `    <testcase classname=${attribute(result.name)} name=${name}>${failure}</testcase>\n`;
    });
    const counts = `tests="${outcomes.length}" failures="${wrong.size}" errors="0"`;
    return `  <testsuite name=${attribute(result.name)} ${counts}>\n${cases.join("")}  </testsuite>\n`;
  });
  await writeFile(file, `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("")}</testsuites>\n`);
}

function wrongTexts({ evaluation, result, outcomes }: Measured): WrongText[] {
  const { spans: types, otherwise } = evaluation;
  return outcomes.flatMap((outcome, index): WrongText[] => {
    const { row, failed, positive, score, probability, findings } = outcome;
    const id = idOf(row.fields);
    const place = { row: index + 1, line: row.line, ...(id === undefined ? {} : { id }) };
    const at = { evaluation: result.name, file: result.file, ...place };
    const found = {
      ...{ score, text: row.text },
      ...(probability === undefined ? {} : { probability }),
      ...(row.prompt === "" ? {} : { prompt: row.prompt }),
    };
    if (types !== undefined) {
      const compared = comparedSpans(outcome, types);
      const [expected, got] = [compared.spans, compared.found].map((spans) =>
        spans
          .map(({ start, end, type }) => `${type} ${start}-${end}`)
          .sort()
          .join(", "),
      ) as [string, string];
      return expected === got ? [] : [{ ...at, kind: "spans", expected, got, ...found }];
    }
    if (otherwise !== undefined) {
      const [expected, got] = [row.label as string, topLabel(findings) ?? otherwise];
      return expected === got ? [] : [{ ...at, kind: "label", expected, got, ...found }];
    }
    const [expected, got] = [positive, failed].map((fails) => (fails ? "fail" : "pass")) as [string, string];
    return expected === got
      ? []
      : [{ ...at, kind: failed ? "false_positive" : "false_negative", expected, got, ...found }];
  });
}

function cellsOf(wrong: WrongText): string[] {
  return COLUMNS.map((column) => String(wrong[column] ?? ""));
}

function page(wrong: readonly WrongText[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${markup(cell)}</${tag}>`).join("")}</tr>\n`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Wrong verdicts</title>
<style>
body { font: 14px system-ui; margin: 2em }
td, th { border-bottom: 1px solid #ccc; padding: .3em .6em; text-align: left; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere }
</style>
<h1>${wrong.length} wrong verdicts</h1>
<table>
${row(COLUMNS, "th")}${wrong.map((one) => row(cellsOf(one), "td")).join("")}</table>
</html>
`;
}

function endOf(file: string): string {
  return /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? "";
}

/** Escapes a text for XML 1.0 and HTML. Control characters, which XML has no way to write, become U+FFFD. */
function markup(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return (
    text
      .replace(/\p{Surrogate}/gu, "\uFFFD")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
      .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD")
      .replace(/[&<>"]/g, (character) => entities[character] as string)
  );
}

function attribute(text: string): string {
  return `"${markup(text).replace(/[\t\n\r]/g, " ")}"`;
}
