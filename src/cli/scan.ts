import { SOURCES, type Source } from "../scan/source.ts";
import type { JsonDocumentsReport, JsonReport } from "../service/json-report.ts";
import { withPathPrefix } from "../support/errors.ts";
import { type Command, parse, parseParams, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import { csvLine } from "./csv.ts";
import { countLines, fileName, readText } from "./lines.ts";
import { Progress } from "./progress.ts";
import { idOf, type LineOptions, readSubject, subjectOf } from "./subjects.ts";
import type { ScannerChoice, Suite } from "./suite.ts";
import { type InputValue, valuesOf } from "./values.ts";

/** The number of lines scanned at the same time: enough to keep every thread of the engine busy, few enough to hold in memory. */
const CONCURRENCY = 16;
/** The number of errors of single lines shown on standard error. The output has all of them. */
const SHOWN_ERRORS = 20;

/** Refers a result to its line: the number, from 1, and the `id` if the line has one. */
interface LineRef {
  line: number;
  id?: string | number;
}
type LineResult = LineRef & (JsonReport | JsonDocumentsReport | { error: string });

const options = {
  file: { type: "string", value: "FILE", help: "scan a file, or standard input for -" },
  jsonl: { type: "boolean", help: "read the file as JSON lines or CSV, and print JSON lines in the same order" },
  csv: { type: "boolean", help: "with --jsonl: print CSV with line, id, is_valid, failing and error" },
  text: { type: "string", value: "FIELD", help: "with --jsonl: field with the text; default: text or prompt" },
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  scanner: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "use this scanner or plugin; may be repeated",
  },
  params: {
    type: "string",
    multiple: true,
    value: "JSON",
    help: "parameters of the preceding --scanner, as in scanners.yml",
  },
  source: {
    type: "string",
    value: "SOURCE",
    help: `source of the text: ${SOURCES.join(", ")}; default: user, for documents tool`,
  },
  "output-of": { type: "string", value: "PROMPT", help: "scan the text as a model's answer to this prompt" },
  recognizers: {
    type: "string",
    value: "FILE",
    help: "JSON file with recognizers of personal data to add, as in ad_hoc_recognizers of the HTTP API",
  },
  "mask-injections": { type: "boolean", help: "cut injections out of the documents of --jsonl" },
  details: { type: "boolean", help: "print findings, timing and coverage too; offsets count Unicode code points" },
} as const;

/** `guard-scan scan`: scans a text, or each line of a file. */
export const scan: Command = {
  name: "scan",
  summary: "Scans a text, a file or standard input.",
  usage:
    "guard-scan scan [TEXT] [--file FILE] [--jsonl] [--config FILE | --scanner NAME --params JSON ...] [--output-of PROMPT]",
  options,
  notes: `A line of --jsonl is a string, or an object with one of
  text or prompt       a prompt; source optional
  prompt and output    an output with its prompt
  messages             a conversation; tools and system optional
  documents            a list of strings, or of objects with text and optional id; source optional
A .csv file has the names of such keys in its first line. Other keys are ignored. Each result has the number of its line, from 1, and the id of the line if there is one. A line that cannot be
scanned gets an error in place of a result; the other lines are scanned.
Put a text that starts with - after --. Exit codes: 0 passed, 1 a text failed, 2 an error.`,
  async run(args) {
    const { values, positionals, tokens } = parse(options, args);
    const [text, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}: put the text in quotes`);
    if (text !== undefined && values.file !== undefined) throw new UsageError("give a text or --file, not both");
    if (text !== undefined && values.jsonl)
      throw new UsageError("--jsonl reads a file or standard input, not an argument");
    if (values.config !== undefined && values.scanner) throw new UsageError("give --config or --scanner, not both");
    const needsLines = (["mask-injections", "csv", "text"] as const).find((name) => values[name] !== undefined);
    if (needsLines && !values.jsonl) throw new UsageError(`--${needsLines} needs --jsonl`);
    const lines: LineOptions = { outputOf: values["output-of"], source: readSource(values.source) };
    if (lines.outputOf !== undefined && lines.source !== undefined) {
      throw new UsageError("give --source or --output-of, not both: an output comes from the assistant");
    }
    const choices = readChoices(tokens);

    // Imported late, because these modules load the addon, which usage errors and the help do not need.
    const { Suite } = await import("./suite.ts");
    const suite = await (choices.length > 0
      ? Suite.fromChoices(choices)
      : Suite.fromConfig(configFile(values.config).path));
    const file = values.file ?? "-";
    const { details = false, "mask-injections": masksInjections = false, csv: asCsv = false, text: textField } = values;
    try {
      if (values.recognizers !== undefined) await addRecognizers(suite, values.recognizers);
      if (values.jsonl) return await scanLines(suite, file, lines, { details, masksInjections, asCsv, textField });
      const reply = await suite.scan(subjectOf(text ?? (await readText(file)), lines), details);
      await print(`${JSON.stringify(reply, null, process.stdout.isTTY ? 2 : 0)}\n`);
      return reply.is_valid ? 0 : 1;
    } finally {
      await suite.close();
    }
  },
};

/** Adds the recognizers of a file. */
async function addRecognizers(suite: Suite, file: string): Promise<void> {
  const text = await readText(file);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${fileName(file)}: not JSON: ${(error as Error).message}`);
  }
  withPathPrefix("--recognizers", () => suite.addRecognizers(given as Parameters<Suite["addRecognizers"]>[0]));
}

/** @throws UsageError for an unknown source. */
export function readSource(name: string | undefined): Source | undefined {
  const known = SOURCES.find((source) => source === name);
  if (name !== undefined && !known) throw new UsageError(`--source ${name}: expected one of ${SOURCES.join(", ")}`);
  return known;
}

/** The scanners of the command line, each with the `--params` that follow it. */
function readChoices(tokens: readonly { kind: string; name?: string; value?: string | undefined }[]): ScannerChoice[] {
  const choices: (Omit<ScannerChoice, "params"> & { params?: ScannerChoice["params"] })[] = [];
  for (const { kind, name, value = "" } of tokens) {
    if (kind !== "option") continue;
    if (name === "scanner") choices.push({ type: value });
    if (name !== "params") continue;
    const last = choices.at(-1);
    if (!last || last.params) throw new UsageError("--params must follow the --scanner that it is for");
    last.params = parseParams(last.type, value);
  }
  return choices.map(({ type, params = {} }) => ({ type, params }));
}

/** Scans JSON lines, some at the same time, and prints the results in the order of the lines, each as early as possible. */
async function scanLines(
  suite: Suite,
  file: string,
  lines: LineOptions,
  { details, masksInjections, asCsv, textField }: LineFormat,
): Promise<number> {
  const count = file !== "-" && process.stderr.isTTY ? await countLines(file) : undefined;
  const output = new ResultOutput(file, count, asCsv);
  const scanLine = async ({ number, read }: InputValue): Promise<LineResult> => {
    const ref: LineRef = { line: number };
    try {
      const value = read();
      const id = idOf(value);
      if (id !== undefined) ref.id = id;
      return { ...ref, ...(await suite.scan(readSubject(value, lines), details, masksInjections)) };
    } catch (error) {
      return { ...ref, error: error instanceof Error ? error.message : String(error) };
    }
  };
  const pending: Promise<void>[] = [];
  let last = Promise.resolve();
  try {
    for await (const line of valuesOf(file, textField)) {
      const result = scanLine(line);
      last = last.then(async () => output.print(await result));
      // Its error is thrown below, where it is awaited. Until then it must not count as an unhandled rejection.
      last.catch(() => {});
      pending.push(last);
      if (pending.length >= CONCURRENCY) await pending.shift();
    }
    await last;
  } finally {
    output.close();
  }
  return output.exitCode;
}

/** How lines are read and printed. */
interface LineFormat {
  details: boolean;
  masksInjections: boolean;
  asCsv: boolean;
  /** The field with the text, if it has another name. */
  textField: string | undefined;
}

const CSV_HEADER = ["line", "id", "is_valid", "failing", "error"];

/** The cells of a result. `failing` lists the scanners that failed. */
function csvCells(result: LineResult): string[] {
  const { line, id = "" } = result;
  if ("error" in result) return [String(line), String(id), "", "", result.error];
  const scores = "scanners" in result ? Object.entries(result.scanners) : [];
  const failing = scores.filter(([, score]) => Number(score) > 0).map(([name]) => name);
  return [String(line), String(id), String(result.is_valid), failing.join(" "), ""];
}

/** Prints the results of lines, and counts those that failed and those that are errors. */
class ResultOutput {
  readonly #file: string;
  readonly #progress: Progress;
  readonly #asCsv: boolean;
  #hasHeader = false;
  #failed = 0;
  #errors = 0;

  constructor(file: string, lines: number | undefined, asCsv: boolean) {
    this.#file = file;
    this.#asCsv = asCsv;
    this.#progress = new Progress(lines);
  }

  async print(result: LineResult): Promise<void> {
    if (this.#asCsv && !this.#hasHeader) await print(csvLine(CSV_HEADER));
    this.#hasHeader = true;
    await print(this.#asCsv ? csvLine(csvCells(result)) : `${JSON.stringify(result)}\n`);
    this.#progress.step();
    if ("error" in result) {
      this.#errors += 1;
      if (this.#errors > SHOWN_ERRORS) return;
      this.#progress.note(`guard: ${fileName(this.#file)}, line ${result.line}: ${result.error}`);
    } else if (!result.is_valid) {
      this.#failed += 1;
    }
  }

  close(): void {
    this.#progress.clear();
    const hidden = this.#errors - SHOWN_ERRORS;
    if (hidden > 0) this.#progress.note(`guard: the output has ${hidden} more errors`);
  }

  get exitCode(): number {
    if (this.#errors > 0) return 2;
    return this.#failed > 0 ? 1 : 0;
  }
}
