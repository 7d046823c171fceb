import { type Agreement, type Change, Tally } from "../service/comparison.ts";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { columns, shortened } from "./layout.ts";
import { countLines, decode, isBlank, type Line, linesOf, open } from "./lines.ts";
import { Progress } from "./progress.ts";
import { readSource } from "./scan.ts";
import { idOf, type LineOptions, readJson, readSubject } from "./subjects.ts";
import type { Suite } from "./suite.ts";

/** Lines that are scanned at the same time. */
const CONCURRENCY = 16;
/** Errors of single lines that are shown on standard error. With --json the output has all of them. */
const SHOWN_ERRORS = 20;
/** The most characters of a line that --show-text prints in a table. */
const SHOWN_CHARS = 200;

const options = {
  "output-of": { type: "string", value: "PROMPT", help: "the texts are a model's answers to this prompt" },
  source: {
    type: "string",
    value: "SOURCE",
    help: "where the texts come from that do not say it, as in guard-scan scan",
  },
  "show-text": { type: "boolean", help: "print the lines that differ too; otherwise only their numbers" },
  json: { type: "boolean", help: "print the result as JSON" },
} as const;

/** `guard-scan diff`: what a change of the configuration changes about the verdicts on some texts. */
export const diff: Command = {
  name: "diff",
  summary: "Compares what two configurations say of the same texts.",
  usage: "guard-scan diff A.yml B.yml TEXTS.jsonl [--output-of PROMPT] [--source SOURCE] [--show-text] [--json]",
  options,
  notes: `The lines of the file are those of guard-scan scan --jsonl; - is standard input. A text is newly failing when it fails in B only, and newly
passing when it fails in A only. Scanners are the same ones when they have the same name in results. Exit codes: 0 nothing
differs, 1 something does, 2 an error, such as a line that cannot be scanned.`,
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
    // Imported only now: this module loads the addon, which a wrong command line does not need.
    const { Suite } = await import("./suite.ts");
    const suites: Suite[] = [];
    try {
      for (const path of [a, b]) suites.push(await Suite.fromConfig(path));
      const [first, second] = suites as [Suite, Suite];
      const result = await compareLines(first, second, file, lines, values["show-text"] ?? false);
      await print(values.json ? `${JSON.stringify(shownAsJson(a, b, result))}\n` : tables(a, b, result));
      for (const { line, error } of result.errors.slice(0, SHOWN_ERRORS))
        process.stderr.write(`guard: ${file}, line ${line}: ${error}\n`);
      if (result.errors.length > 0) return 2;
      return result.tally.differs > 0 ? 1 : 0;
    } finally {
      for (const suite of suites) await suite.close();
    }
  },
};

/** A line about which the configurations differ. */
interface DifferentLine {
  line: number;
  id?: string | number;
  /** How the verdict on the text differs; null where only that of a scanner does, or the outcome. */
  change: Change | null;
  outcomes: { a: string; b: string };
  scanners: Record<string, Change>;
  /** What the line says, where it is to be shown. */
  text?: unknown;
}

/** What came of a file. */
interface Result {
  tally: Tally;
  differences: DifferentLine[];
  errors: { line: number; error: string }[];
}

async function compareLines(
  first: Suite,
  second: Suite,
  file: string,
  lines: LineOptions,
  showsText: boolean,
): Promise<Result> {
  const progress = new Progress(file !== "-" && process.stderr.isTTY ? await countLines(file) : undefined);
  const result: Result = { tally: new Tally(), differences: [], errors: [] };

  const compareLine = async ({ number: line, bytes }: Line): Promise<void> => {
    try {
      const value = readJson(decode(bytes));
      const subject = readSubject(value, lines);
      const [before, after] = await Promise.all([first.judge(subject), second.judge(subject)]);
      const { isSame, change = null, scanners } = result.tally.add(before, after);
      if (isSame) return;
      const id = idOf(value);
      result.differences.push({
        line,
        ...(id === undefined ? {} : { id }),
        change,
        outcomes: { a: before.outcome, b: after.outcome },
        scanners: Object.fromEntries(scanners),
        ...(showsText ? { text: value } : {}),
      });
    } catch (error) {
      result.errors.push({ line, error: error instanceof Error ? error.message : String(error) });
    } finally {
      progress.step();
    }
  };

  const underWay = new Set<Promise<void>>();
  try {
    for await (const line of linesOf(open(file))) {
      if (isBlank(line)) continue;
      const work: Promise<void> = compareLine(line).finally(() => underWay.delete(work));
      underWay.add(work);
      if (underWay.size >= CONCURRENCY) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  } finally {
    progress.clear();
  }
  // Lines that were scanned at the same time end in any order.
  for (const list of [result.differences, result.errors]) list.sort((one, other) => one.line - other.line);
  return result;
}

function shownAsJson(a: string, b: string, { tally, differences, errors }: Result): object {
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

function tables(a: string, b: string, { tally, differences, errors }: Result): string {
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
  const agreeing = String(texts - newlyFailing - newlyPassing);
  const rows = [
    TITLES,
    ...Object.entries(tally.scanners).map(([name, counts]) => row(name, counts)),
    ["all", agreeing, String(newlyFailing), String(newlyPassing), "", "", ""],
  ];
  const lines = differences.map((difference) => `${lineOf(difference)}\n`).join("");
  const wrong = errors.length > 0 ? `, ${errors.length} lines could not be scanned` : "";
  return (
    `A: ${a}, B: ${b}\n${texts} texts, ${tally.differs} differ${wrong}\n\n` +
    `${columns(rows, { width: lineWidth(), right: [1, 2, 3, 4, 5, 6] })}${lines === "" ? "" : `\n${lines}`}`
  );
}

/** A line that differs, such as `line 3 (id 7): newly failing by Toxicity`. */
function lineOf({ line, id, change, outcomes, scanners, text }: DifferentLine): string {
  const words = (change: Change) => change.replace("_", " ");
  const by = Object.entries(scanners).map(([name, of]) => (of === change ? name : `${name} ${words(of)}`));
  const place = `line ${line}${id === undefined ? "" : ` (id ${JSON.stringify(id)})`}`;
  const verdict = change ? words(change) : `${outcomes.a}, then ${outcomes.b}`;
  const shown = text === undefined ? "" : `\n    ${shortened(JSON.stringify(text), SHOWN_CHARS)}`;
  return `${place}: ${verdict}${by.length > 0 ? ` (${by.join(", ")})` : ""}${shown}`;
}
