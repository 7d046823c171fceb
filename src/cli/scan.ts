import { SOURCES, type Source } from "../scan/source.ts";
import type { Answer, DocumentsAnswer } from "../service/json-report.ts";
import { type Command, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import { countLines, decode, isBlank, type Line, linesOf, open } from "./lines.ts";
import { readParams } from "./params.ts";
import { Progress } from "./progress.ts";
import { idOf, type LineOptions, readJson, readSubject, subjectOf } from "./subjects.ts";
import type { Choice, Suite } from "./suite.ts";

/** Lines that are scanned at the same time: enough to keep every thread of the engine busy, few enough to hold in memory. */
const CONCURRENCY = 16;
/** Errors of single lines that are shown on standard error. The output has all of them. */
const SHOWN_ERRORS = 20;

/** Where a result belongs: the number of its line in the file, from 1, and the `id` that the line has. */
interface Place {
  line: number;
  id?: string | number;
}
type LineResult = Place & (Answer | DocumentsAnswer | { error: string });

const options = {
  file: { type: "string", value: "FILE", help: "scan the content of a file, - for standard input" },
  jsonl: { type: "boolean", help: "the file is JSON lines; so is the output, in the same order" },
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  scanner: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "scan with this scanner, or plugin; may be repeated",
  },
  params: {
    type: "string",
    multiple: true,
    value: "JSON",
    help: "parameters of the scanner before it, as in scanners.yml",
  },
  source: {
    type: "string",
    value: "SOURCE",
    help: `where the text comes from: ${SOURCES.join(", ")}; default user, for documents tool`,
  },
  "output-of": { type: "string", value: "PROMPT", help: "the text is a model's answer to this prompt" },
  "mask-injections": { type: "boolean", help: "cut injections out of the documents of --jsonl, and keep the rest" },
  details: { type: "boolean", help: "print findings, timing and coverage too; offsets are in Unicode code points" },
} as const;

/** `guard-scan scan`: scans a text, or each line of a file. */
export const scan: Command = {
  name: "scan",
  summary: "Scans a text, a file or standard input.",
  usage:
    "guard-scan scan [TEXT] [--file FILE] [--jsonl] [--config FILE | --scanner NAME --params JSON ...] [--output-of PROMPT]",
  options,
  notes: `A line of --jsonl is a string or an object with text or prompt (and source), with prompt and output, or with messages (a
conversation; tools and system beside them), or with documents (a list of strings, or of objects with text and perhaps id; source beside
it); other keys are left alone. A result has the number of its line, from 1, and its id, where the line has one. A line that cannot be
scanned gets an error in the place of a result, and the others are scanned.
A text that starts with - stands behind --. Exit codes: 0 passed, 1 a text failed, 2 an error.`,
  async run(args) {
    const { values, positionals, tokens } = parse(options, args);
    const [text, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}: put the text in quotes`);
    if (text !== undefined && values.file !== undefined) throw new UsageError("give a text or --file, not both");
    if (text !== undefined && values.jsonl)
      throw new UsageError("--jsonl reads a file or standard input, not an argument");
    if (values.config !== undefined && values.scanner) throw new UsageError("give --config or --scanner, not both");
    if (values["mask-injections"] && !values.jsonl) throw new UsageError("--mask-injections needs --jsonl");
    const lines: LineOptions = { outputOf: values["output-of"], source: readSource(values.source) };
    if (lines.outputOf !== undefined && lines.source !== undefined) {
      throw new UsageError("give --source or --output-of, not both: an output comes from the assistant");
    }
    const choices = readChoices(tokens);

    // Imported only now: these modules load the addon, which a wrong command line or the help does not need.
    const { Suite } = await import("./suite.ts");
    const suite = await (choices.length > 0
      ? Suite.fromChoices(choices)
      : Suite.fromConfig(configFile(values.config).path));
    const file = values.file ?? "-";
    const { details = false, "mask-injections": masks = false } = values;
    try {
      if (values.jsonl) return await scanLines(suite, file, lines, { details, masks });
      const reply = await suite.scan(subjectOf(text ?? (await readText(file)), lines), details);
      await print(`${JSON.stringify(reply, null, process.stdout.isTTY ? 2 : 0)}\n`);
      return reply.is_valid ? 0 : 1;
    } finally {
      await suite.close();
    }
  },
};

/** @throws UsageError for a word that is no source. */
export function readSource(word: string | undefined): Source | undefined {
  const known = SOURCES.find((source) => source === word);
  if (word !== undefined && !known) throw new UsageError(`--source ${word}: expected one of ${SOURCES.join(", ")}`);
  return known;
}

/** The scanners of the command line, each with the `--params` that follow it. */
function readChoices(tokens: readonly { kind: string; name?: string; value?: string | undefined }[]): Choice[] {
  const choices: (Omit<Choice, "params"> & { params?: Choice["params"] })[] = [];
  for (const { kind, name, value = "" } of tokens) {
    if (kind !== "option") continue;
    if (name === "scanner") choices.push({ type: value });
    if (name !== "params") continue;
    const last = choices.at(-1);
    if (!last || last.params) throw new UsageError("--params belongs behind the --scanner that it is for");
    last.params = readParams(last.type, value);
  }
  return choices.map(({ type, params = {} }) => ({ type, params }));
}

async function readText(file: string): Promise<string> {
  if (file === "-" && process.stdin.isTTY) process.stderr.write("Reading the text from standard input.\n");
  const chunks: Buffer[] = [];
  for await (const chunk of open(file)) chunks.push(chunk);
  try {
    return decode(Buffer.concat(chunks));
  } catch (error) {
    throw new UsageError(`${fileName(file)}: ${(error as Error).message}`);
  }
}

/** Scans JSON lines, a few at a time, and prints each result as soon as those before it are printed. */
async function scanLines(
  suite: Suite,
  file: string,
  lines: LineOptions,
  { details, masks }: { details: boolean; masks: boolean },
): Promise<number> {
  const progress = new Progress(file !== "-" && process.stderr.isTTY ? await countLines(file) : undefined);
  let failed = 0;
  let errors = 0;

  const scanLine = async ({ number, bytes }: Line): Promise<LineResult> => {
    const place: Place = { line: number };
    try {
      const value = readJson(decode(bytes));
      const id = idOf(value);
      if (id !== undefined) place.id = id;
      return { ...place, ...(await suite.scan(readSubject(value, lines), details, masks)) };
    } catch (error) {
      return { ...place, error: error instanceof Error ? error.message : String(error) };
    }
  };
  const show = async (result: Awaited<ReturnType<typeof scanLine>>) => {
    await print(`${JSON.stringify(result)}\n`);
    progress.step();
    if (!("error" in result)) {
      if (!result.is_valid) failed += 1;
      return;
    }
    errors += 1;
    if (errors <= SHOWN_ERRORS) progress.note(`guard: ${fileName(file)}, line ${result.line}: ${result.error}`);
  };

  const underWay: Promise<void>[] = [];
  let last = Promise.resolve();
  try {
    for await (const line of linesOf(open(file))) {
      if (isBlank(line)) continue;
      const result = scanLine(line);
      last = last.then(async () => show(await result));
      // Its error is thrown below, where it is awaited. Until then it must not count as an unhandled rejection.
      last.catch(() => {});
      underWay.push(last);
      if (underWay.length >= CONCURRENCY) await underWay.shift();
    }
    await last;
  } finally {
    progress.clear();
  }
  if (errors > SHOWN_ERRORS) progress.note(`guard: ${errors - SHOWN_ERRORS} more errors are in the output`);
  return errors > 0 ? 2 : failed > 0 ? 1 : 0;
}

function fileName(file: string): string {
  return file === "-" ? "standard input" : file;
}
