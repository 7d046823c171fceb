import { UsageError } from "../command.ts";
import { countLines, fileName } from "../lines.ts";
import { idOf } from "../subjects.ts";
import { type InputValue, subjectValues, valuesOf } from "../values.ts";
import { createLineScanner, type LineScanner, type LineScanSettings } from "./line-scanner.ts";
import { ProcessPool, ProcessPoolError } from "./process-pool.ts";
import { type LineRef, type LineResult, ResultOutput } from "./result-output.ts";
import { readWrittenResults, type WrittenResults } from "./written-results.ts";

export interface LineScanOptions {
  /** The file with the lines; `-` for standard input. */
  file: string;
  /** The field with the text, if it has another name. */
  textField: string | undefined;
  asCsv: boolean;
  /** The file for the results; standard output by default. */
  output: string | undefined;
  /** Whether to continue the results in the file. */
  resumes: boolean;
  processes: number;
}

/**
 * Scans the lines of a file, some at the same time, and prints the results in the order of the lines, each as early as possible. At most
 * `concurrency` lines and results are in memory.
 *
 * @returns the exit code.
 */
export async function scanLines(settings: LineScanSettings, options: LineScanOptions): Promise<number> {
  const { file, output: path, resumes, processes, asCsv, textField } = options;
  const written = path !== undefined && resumes ? await readWrittenResults(path) : undefined;
  const isShown = path !== undefined || process.stderr.isTTY;
  const count = file !== "-" && isShown ? await countLines(file) : undefined;
  const lines = count === undefined ? undefined : Math.max(0, count - (written?.lastLine ?? 0));
  const input = fileName(file);
  let output: ResultOutput | undefined;
  const onReplaced = (how: string, again: number) =>
    output?.note(`guard: a process has ended ${how}; it is replaced, and ${again} lines are scanned again`);
  // Invalid scanners are reported before there is an output.
  const scanner = await (processes > 1
    ? ProcessPool.start(settings, { processes, onReplaced })
    : createLineScanner(settings));
  let isComplete = false;
  try {
    output = await ResultOutput.open({ input, lines, asCsv, path, written });
    // A pipe may have nothing to say, as that of grep.
    const values = valuesOf(file, { ...subjectValues(textField), allowsEmpty: file === "-" });
    await printResults(written ? skipWritten(values, written, input) : values, scanner, output);
    isComplete = true;
    return output.exitCode;
  } finally {
    await scanner.close();
    await output?.close(isComplete);
  }
}

async function printResults(
  values: AsyncIterable<InputValue>,
  scanner: LineScanner,
  output: ResultOutput,
): Promise<void> {
  const pending: Promise<void>[] = [];
  let last = Promise.resolve();
  for await (const value of values) {
    const result = scanLine(value, scanner);
    // If an earlier line has failed, nobody waits for this one.
    result.catch(() => {});
    last = last.then(async () => output.print(await result));
    // Its error is thrown below, where it is awaited. Until then it must not count as an unhandled rejection.
    last.catch(() => {});
    pending.push(last);
    if (pending.length >= scanner.concurrency) await pending.shift();
  }
  await last;
}

/** Rejects only if no line can be scanned any more. */
async function scanLine({ number, read }: InputValue, scanner: LineScanner): Promise<LineResult> {
  const ref: LineRef = { line: number };
  try {
    const value = read();
    const id = idOf(value);
    if (id !== undefined) ref.id = id;
    return { ...ref, ...(await scanner.scan(value)) };
  } catch (error) {
    if (error instanceof ProcessPoolError) throw error;
    return { ...ref, error: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Skips the lines that have a result.
 *
 * @throws UsageError if the results are not those of the file.
 */
async function* skipWritten(
  values: AsyncIterable<InputValue>,
  { lastLine, lastId }: WrittenResults,
  input: string,
): AsyncGenerator<InputValue> {
  let isFound = lastLine === 0;
  for await (const value of values) {
    if (value.number > lastLine && isFound) yield value;
    else if (value.number === lastLine && readId(value) === lastId) isFound = true;
    else if (value.number >= lastLine) break;
  }
  if (!isFound) throw new UsageError(`the results to resume are not those of ${input}: line ${lastLine} differs`);
}

function readId({ read }: InputValue): string | number | undefined {
  try {
    return idOf(read());
  } catch {
    return undefined;
  }
}
