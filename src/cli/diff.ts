import { type Agreement, type Change, Tally } from "../service/comparison.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { columns, truncate } from "./layout.ts";
import { countLines } from "./lines.ts";
import { Progress } from "./progress.ts";
import { readSource } from "./scan.ts";
import { idOf, type LineOptions, readSubject } from "./subjects.ts";
import type { Suite } from "./suite.ts";
import { type InputValue, subjectValues, valuesOf } from "./values.ts";

/** The number of lines scanned at the same time. */
const CONCURRENCY = 16;
/** The number of errors of single lines shown on standard error. With --json the output has all of them. */
const SHOWN_ERRORS = 20;
/** The maximum length of a line that --show-text prints in a table, in characters. */
const SHOWN_CHARS = 200;

const options = {
  "output-of": { type: "string", value: "PROMPT", help: "scan the texts as a model's answers to this prompt" },
  source: {
    type: "string",
    value: "SOURCE",
    help: "source of lines without one, as in guard-scan scan",
  },
  text: { type: "string", value: "FIELD", help: "field with the text; default: text or prompt" },
  "show-text": { type: "boolean", help: "print the texts of the lines that differ, not only their numbers" },
  json: { type: "boolean", help: "print the result as JSON" },
} as const;

/** `guard-scan diff`: compares the verdicts of two configurations on the same texts. */
export const diff: Command = {
  name: "diff",
  summary: "Compares the verdicts of two configurations on the same texts.",
  usage: "guard-scan diff A.yml B.yml TEXTS.jsonl [--output-of PROMPT] [--source SOURCE] [--show-text] [--json]",
  options,
  notes: `The file has lines or CSV records as for guard-scan scan --jsonl; - is standard input. A text is newly failing if it fails in B only, and newly
passing if it fails in A only. Scanners are matched by their names in results. Exit codes: 0 no differences, 1 differences, 2 an error,
such as a line that cannot be scanned, or a file without lines.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [a, b, file, more] = positionals;
    if (a === undefined || b === undefined || file === undefined || more !== undefined) {
      throw new UsageError("expected two configurations and a file: A.yml B.yml TEXTS.jsonl");
    }
    const lines: LineOptions = { outputOf: values["output-of"], source: readSource(values.source) };
    if (lines.outputOf !== undefined && lines.source !== undefined) {
      throw new UsageError("give --source or --output-of, not both: an output comes from the assistant");
    }
    // Imported late, because this module loads the addon, which usage errors do not need.
    const { Suite } = await import("./suite.ts");
    const suites: Suite[] = [];
    try {
      for (const path of [a, b]) suites.push(await Suite.fromConfig(path));
      const format = { showsText: values["show-text"] ?? false, textField: values.text };
      const comparison = await compareLines(suites as [Suite, Suite], file, lines, format);
      await print(values.json ? `${JSON.stringify(comparisonJson(a, b, comparison))}\n` : tables(a, b, comparison));
      for (const { line, error } of comparison.errors.slice(0, SHOWN_ERRORS))
        process.stderr.write(`guard: ${file}, line ${line}: ${error}\n`);
      if (comparison.errors.length > 0) return 2;
      return comparison.tally.differs > 0 ? 1 : 0;
    } finally {
      for (const suite of suites) await suite.close();
    }
  },
};

/** A line on which the configurations differ. */
interface DifferentLine {
  line: number;
  id?: string | number;
  /** How the verdict on the text differs; null if only a scanner or the outcome differs. */
  change: Change | null;
  outcomes: { a: string; b: string };
  scanners: Record<string, Change>;
  /** The value of the line, with --show-text. */
  text?: unknown;
}

/** The result of comparing the lines of a file. */
interface Comparison {
  tally: Tally;
  differences: DifferentLine[];
  errors: { line: number; error: string }[];
}

/** Judges the lines of a file with both configurations, some lines at the same time. */
async function compareLines(
  suites: readonly [Suite, Suite],
  file: string,
  lines: LineOptions,
  { showsText, textField }: { showsText: boolean; textField: string | undefined },
): Promise<Comparison> {
  const progress = new Progress(file !== "-" && process.stderr.isTTY ? await countLines(file) : undefined);
  const comparison: Comparison = { tally: new Tally(), differences: [], errors: [] };
  const pending = new Set<Promise<void>>();
  try {
    for await (const line of valuesOf(file, subjectValues(textField))) {
      const work: Promise<void> = compareLine(suites, line, lines, showsText, comparison).finally(() => {
        pending.delete(work);
        progress.step();
      });
      pending.add(work);
      if (pending.size >= CONCURRENCY) await Promise.race(pending);
    }
    await Promise.all(pending);
  } finally {
    progress.clear();
  }
  // Lines scanned at the same time end in any order.
  for (const list of [comparison.differences, comparison.errors]) list.sort((one, other) => one.line - other.line);
  return comparison;
}

/** Judges a line with both configurations and adds the result to the comparison. */
async function compareLine(
  [first, second]: readonly [Suite, Suite],
  { number: line, read }: InputValue,
  lines: LineOptions,
  showsText: boolean,
  { tally, differences, errors }: Comparison,
): Promise<void> {
  try {
    const value = read();
    const subject = readSubject(value, lines);
    const [before, after] = await Promise.all([first.judge(subject), second.judge(subject)]);
    const { isSame, change = null, scanners } = tally.add(before, after);
    if (isSame) return;
    const id = idOf(value);
    differences.push({
      line,
      ...(id === undefined ? {} : { id }),
      change,
      outcomes: { a: before.outcome, b: after.outcome },
      scanners: Object.fromEntries(scanners),
      ...(showsText ? { text: value } : {}),
    });
  } catch (error) {
    errors.push({ line, error: error instanceof Error ? error.message : String(error) });
  }
}

function comparisonJson(a: string, b: string, { tally, differences, errors }: Comparison): object {
  return {
    a,
    b,
    texts: tally.same + tally.differs,
    same: tally.same,
    differs: tally.differs,
    newly_failing: tally.newlyFailing,
    newly_passing: tally.newlyPassing,
    scanners: Object.fromEntries(
      Object.entries(tally.scanners).map(([name, counts]) => [
        name,
        {
          both_pass: counts.bothPass,
          both_fail: counts.bothFail,
          newly_failing: counts.newlyFailing,
          newly_passing: counts.newlyPassing,
          only_a: counts.onlyFirst,
          only_b: counts.onlySecond,
          mean_score_difference: counts.meanScoreDifference,
        },
      ]),
    ),
    differences,
    errors,
  };
}

const TITLES = ["", "AGREE", "NEWLY FAILING", "NEWLY PASSING", "ONLY IN A", "ONLY IN B", "SCORE B - A"];

function tables(a: string, b: string, { tally, differences, errors }: Comparison): string {
  const row = (name: string, counts: Agreement) => [
    name,
    String(counts.bothPass + counts.bothFail),
    String(counts.newlyFailing),
    String(counts.newlyPassing),
    String(counts.onlyFirst),
    String(counts.onlySecond),
    counts.meanScoreDifference === null ? "" : counts.meanScoreDifference.toFixed(3),
  ];
  const texts = tally.same + tally.differs;
  const { newlyFailing, newlyPassing } = tally;
  const agreed = String(texts - newlyFailing - newlyPassing);
  const rows = [
    TITLES,
    ...Object.entries(tally.scanners).map(([name, counts]) => row(name, counts)),
    ["all", agreed, String(newlyFailing), String(newlyPassing), "", "", ""],
  ];
  const lines = differences.map((difference) => `${lineOf(difference)}\n`).join("");
  const unscanned = errors.length > 0 ? `, ${errors.length} lines could not be scanned` : "";
  return (
    `A: ${a}, B: ${b}\n${texts} texts, ${tally.differs} differ${unscanned}\n\n` +
    `${columns(rows, { width: lineWidth(), right: [1, 2, 3, 4, 5, 6] })}${lines === "" ? "" : `\n${lines}`}`
  );
}

/** Describes a line that differs, such as `line 3 (id 7): newly failing by Toxicity`. */
function lineOf({ line, id, change, outcomes, scanners, text }: DifferentLine): string {
  const words = (change: Change) => change.replace("_", " ");
  const by = Object.entries(scanners).map(([name, of]) => (of === change ? name : `${name} ${words(of)}`));
  const place = `line ${line}${id === undefined ? "" : ` (id ${JSON.stringify(id)})`}`;
  const verdict = change ? words(change) : `${outcomes.a}, then ${outcomes.b}`;
  const shown = text === undefined ? "" : `\n    ${truncate(JSON.stringify(text), SHOWN_CHARS)}`;
  return `${place}: ${verdict}${by.length > 0 ? ` (${by.join(", ")})` : ""}${shown}`;
}
