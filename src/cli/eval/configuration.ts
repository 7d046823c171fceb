import { basename } from "node:path";
import type { Side } from "../../scan/scanner.ts";
import { scannerClasses } from "../../scanners/catalog.ts";
import type { ServiceReport } from "../../service/service-types.ts";
import { UsageError } from "../command.ts";
import { sourceOf, subjectOf } from "../subjects.ts";
import { Suite } from "../suite.ts";
import { checkGroupFields, checkLabels, type LabelledText, positiveTest, readLabelled } from "./labelled.ts";
import { mapRows } from "./map-rows.ts";
import { fieldsOf, figuresByField, type JudgedText, type Measured, type Result, readSide } from "./measure.ts";
import { type Outcome, type VerdictFigures, verdictFigures } from "./metrics.ts";
import type { EvalValues } from "./options.ts";

/** The group of figures that has one row for each scanner. */
const SCANNER = "scanner";
/** The options that measure a scanner and not a whole configuration. */
const SCANNER_ONLY = ["scanner", "params", "otherwise", "spans", "suite", "data", "only"] as const;

/** The figures of a configuration. Those of a scanner are about the texts that it read. */
export interface ConfigurationResult extends Result {
  config: string;
  all: VerdictFigures;
}

/** A text, and the verdicts of a configuration and its scanners on it. */
interface JudgedByAll extends Outcome, JudgedText {
  verdicts: ServiceReport["resultsValid"];
}

/**
 * Measures a configuration on the file of labelled texts that the command line names.
 *
 * @throws UsageError for options that do not go with a configuration, and for texts that it cannot judge.
 */
export async function measureConfiguration(
  [path, more]: readonly string[],
  config: string,
  values: EvalValues,
): Promise<Measured> {
  if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
  if (path === undefined) throw new UsageError("give a file of labelled texts");
  const excluded = SCANNER_ONLY.find((name) => values[name] !== undefined);
  if (excluded) throw new UsageError(`--${excluded} does not go with --config, which has its own scanners`);
  const side = readSide(values.side) ?? "input";
  const labels = { positives: values.positive, negatives: values.negative };
  const suite = await Suite.fromConfig(config);
  try {
    const rows = await readLabelled(path, side === "output" ? needsPrompt(suite) : undefined, values);
    checkLabels(path, rows, labels);
    if (values.by !== undefined) checkGroupFields(path, rows, values.by);
    const start = performance.now();
    const isPositive = positiveTest(labels);
    const outcomes = await mapRows(rows, async (row): Promise<JudgedByAll> => {
      const report = await judgeRow(suite, side, row);
      const { isValid, resultsValid: verdicts } = report;
      return { row, positive: isPositive(row), failed: !isValid, score: isValid ? -1 : 1, findings: [], verdicts };
    });
    const seconds = (performance.now() - start) / 1000;
    const result: ConfigurationResult = {
      ...{ name: config, config, side, file: basename(path) },
      textsPerSecond: Math.round(rows.length / seconds),
      all: verdictFigures(outcomes),
      by: {
        [SCANNER]: Object.fromEntries(scannerNames(outcomes).map((name) => [name, scannerFigures(outcomes, name)])),
        ...figuresByField(outcomes, fieldsOf({ by: values.by }, rows), verdictFigures),
      },
    };
    return { evaluation: {}, result, outcomes };
  } finally {
    await suite.close();
  }
}

/** An output scanner of a configuration that compares an output with its prompt. */
function needsPrompt(suite: Suite): string | undefined {
  const classes = scannerClasses("output");
  return suite.lists.output.find(({ type }) => classes.get(type)?.definition.comparesWithPrompt)?.type;
}

async function judgeRow(
  suite: Suite,
  side: Side,
  { text, prompt, fields, line }: LabelledText,
): Promise<ServiceReport> {
  try {
    return await suite.judge(subjectOf(text, side === "output" ? { outputOf: prompt } : sourceOf(fields)));
  } catch (error) {
    throw new Error(`line ${line}: ${(error as Error).message}`, { cause: error });
  }
}

/** The names of all scanners that read a text, in the order of the configuration. */
function scannerNames(outcomes: readonly JudgedByAll[]): string[] {
  return [...new Set(outcomes.flatMap(({ verdicts }) => Object.keys(verdicts)))];
}

/** The figures of a scanner on the texts that it read. */
function scannerFigures(outcomes: readonly JudgedByAll[], name: string): VerdictFigures {
  return verdictFigures(
    outcomes.flatMap(({ positive, verdicts }) => {
      const isValid = verdicts[name];
      return isValid === undefined ? [] : [{ positive, failed: !isValid }];
    }),
  );
}
