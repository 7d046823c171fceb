import { SOURCES, type Source } from "../scan/source.ts";
import type { LineScanSettings } from "./batch/line-scanner.ts";
import { type Command, numberOf, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import { fileName, readText } from "./lines.ts";
import { checkOutputFile } from "./output-file.ts";
import { readChoices } from "./scanner-choices.ts";
import { type LineOptions, subjectOf } from "./subjects.ts";

const MAX_PROCESSES = 256;

const options = {
  file: { type: "string", value: "FILE", help: "scan a file, or standard input for -" },
  jsonl: { type: "boolean", help: "read the file as JSON lines or CSV, and print JSON lines in the same order" },
  csv: { type: "boolean", help: "with --jsonl: print CSV with line, id, is_valid, failing and error" },
  text: { type: "string", value: "FIELD", help: "with --jsonl: field with the text; default: text or prompt" },
  output: {
    type: "string",
    value: "FILE",
    help: "with --jsonl: write the results to this file, and the progress to standard error",
  },
  resume: {
    type: "boolean",
    help: "with --output: keep the results that an interrupted run has written, and scan the other lines",
  },
  processes: { type: "string", value: "N", help: "with --jsonl: scan in N processes; one that ends is replaced" },
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
A .csv or .tsv file has the names of such keys in its first line. Other keys are ignored. Each result has the number of its line, from 1, and the id of the line if there is one. A line that cannot be
scanned gets an error in place of a result; the other lines are scanned. A file without lines is an error; standard input may be empty.
With --output, an interrupted run goes on where it ended: repeat the command with --resume. The results are complete and in the order of the lines.
Put a text that starts with - after --. Exit codes: 0 passed, 1 a text failed, 2 an error.`,
  async run(args) {
    const { values, positionals, tokens } = parse(options, args);
    const [text, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}: put the text in quotes`);
    if (text !== undefined && values.file !== undefined) throw new UsageError("give a text or --file, not both");
    if (text !== undefined && values.jsonl)
      throw new UsageError("--jsonl reads a file or standard input, not an argument");
    if (values.config !== undefined && values.scanner) throw new UsageError("give --config or --scanner, not both");
    const needsLines = NEED_LINES.find((name) => values[name] !== undefined);
    if (needsLines && !values.jsonl) throw new UsageError(`--${needsLines} needs --jsonl`);
    if (values.resume && values.output === undefined) throw new UsageError("--resume needs --output");
    if (values.output !== undefined) checkOutputFile("--output", values.output);
    if (values.resume && values.csv) throw new UsageError("--resume reads results of JSON lines: leave out --csv");
    const lines: LineOptions = { outputOf: values["output-of"], source: readSource(values.source) };
    if (lines.outputOf !== undefined && lines.source !== undefined) {
      throw new UsageError("give --source or --output-of, not both: an output comes from the assistant");
    }
    const choices = readChoices(tokens);
    const processes = readProcesses(values.processes);
    const file = values.file ?? "-";
    const { details = false, "mask-injections": masksInjections = false } = values;
    const settings: LineScanSettings = {
      ...{ lines, details, masksInjections },
      scanners: choices.length > 0 ? { choices } : { config: configFile(values.config).path },
      ...(values.recognizers === undefined ? {} : { recognizers: await readJsonFile(values.recognizers) }),
    };

    if (values.jsonl) {
      const { text: textField, csv: asCsv = false, output, resume: resumes = false } = values;
      const { scanLines } = await import("./batch/scan-lines.ts");
      return scanLines(settings, { file, textField, asCsv, output, resumes, processes });
    }
    // Imported late, because these modules load the addon, which usage errors and the help do not need.
    const { createSuite, isUnread, UNREAD } = await import("./batch/line-scanner.ts");
    const suite = await createSuite(settings);
    try {
      const reply = await suite.scan(subjectOf(text ?? (await readText(file)), lines), details);
      await print(`${JSON.stringify(reply, null, process.stdout.isTTY ? 2 : 0)}\n`);
      if (isUnread(reply)) process.stderr.write(`guard: ${UNREAD}\n`);
      return reply.is_valid ? 0 : 1;
    } finally {
      await suite.close();
    }
  },
};

const NEED_LINES = ["mask-injections", "csv", "text", "output", "resume", "processes"] as const;

function readProcesses(text: string | undefined): number {
  const processes = numberOf("--processes", text) ?? 1;
  if (processes < 1 || processes > MAX_PROCESSES) throw new UsageError(`--processes: expected 1 to ${MAX_PROCESSES}`);
  return processes;
}

/** Reads a file of JSON. */
async function readJsonFile(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${fileName(file)}: not JSON: ${(error as Error).message}`);
  }
}

/** @throws UsageError for an unknown source. */
export function readSource(name: string | undefined): Source | undefined {
  const known = SOURCES.find((source) => source === name);
  if (name !== undefined && !known) throw new UsageError(`--source ${name}: expected one of ${SOURCES.join(", ")}`);
  return known;
}
