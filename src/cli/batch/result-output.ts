import { type FileHandle, open, truncate } from "node:fs/promises";
import { print, UsageError } from "../command.ts";
import { csvLine } from "../csv.ts";
import { Progress } from "../progress.ts";
import { isUnread, type LineReport, UNREAD } from "./line-scanner.ts";
import type { WrittenResults } from "./written-results.ts";

/** Refers a result to its line: the number, from 1, and the `id` if the line has one. */
export interface LineRef {
  line: number;
  id?: string | number;
}

export type LineResult = LineRef & (LineReport | { error: string });

/** The number of errors of single lines shown on standard error. The output has all of them. */
const SHOWN_ERRORS = 20;
/** Without a terminal, the progress of a run that writes to a file is printed this often. */
const LOG_INTERVAL_MS = 30_000;

const CSV_HEADER = ["line", "id", "is_valid", "failing", "error"];

export interface ResultOutputOptions {
  /** The name of the input in messages. */
  input: string;
  /** The number of lines that are left to scan, if it is known. */
  lines: number | undefined;
  asCsv: boolean;
  /** The file for the results; standard output by default. */
  path: string | undefined;
  /** The results that the file has already. */
  written: WrittenResults | undefined;
}

/** Prints the results of lines, and counts those that failed and those that are errors. */
export class ResultOutput {
  readonly #input: string;
  readonly #path: string | undefined;
  readonly #file: FileHandle | undefined;
  readonly #progress: Progress;
  readonly #asCsv: boolean;
  #hasHeader = false;
  #results: number;
  #failed: number;
  #errors: number;
  #shownErrors = 0;
  #unread = 0;

  private constructor({ input, lines, asCsv, path, written }: ResultOutputOptions, file: FileHandle | undefined) {
    this.#input = input;
    this.#path = path;
    this.#file = file;
    this.#asCsv = asCsv;
    this.#progress = new Progress(lines, !file, file && LOG_INTERVAL_MS);
    this.#results = written?.results ?? 0;
    this.#failed = written?.failed ?? 0;
    this.#errors = written?.errors ?? 0;
  }

  /** @throws UsageError if the file exists, and is not to be continued. */
  static async open(options: ResultOutputOptions): Promise<ResultOutput> {
    const { path, written } = options;
    return new ResultOutput(options, path === undefined ? undefined : await openFile(path, written));
  }

  async print(result: LineResult): Promise<void> {
    if (this.#asCsv && !this.#hasHeader) await this.#write(csvLine(CSV_HEADER));
    this.#hasHeader = true;
    await this.#write(this.#asCsv ? csvLine(csvCells(result)) : `${JSON.stringify(result)}\n`);
    this.#results += 1;
    this.#progress.step();
    if ("error" in result) {
      this.#errors += 1;
      this.#shownErrors += 1;
      if (this.#shownErrors > SHOWN_ERRORS) return;
      this.note(`guard: ${this.#input}, line ${result.line}: ${result.error}`);
      return;
    }
    if (!result.is_valid) this.#failed += 1;
    if (isUnread(result)) this.#unread += 1;
  }

  /** Writes a line to standard error. */
  note(line: string): void {
    this.#progress.note(line);
  }

  /** @param isComplete whether all lines have a result. */
  async close(isComplete: boolean): Promise<void> {
    this.#progress.clear();
    const hidden = this.#shownErrors - SHOWN_ERRORS;
    if (hidden > 0) this.note(`guard: the output has ${hidden} more errors`);
    if (this.#unread > 0) this.note(`guard: ${this.#unread} of ${this.#results} lines: ${UNREAD}`);
    if (!this.#file) return;
    await this.#file.close();
    const counts = `${this.#results} results, ${this.#failed} failed, ${this.#errors} errors`;
    const advice = isComplete ? "" : "; --resume continues";
    this.note(`guard: ${this.#path}: ${counts}${advice}`);
  }

  get exitCode(): number {
    if (this.#errors > 0) return 2;
    return this.#failed > 0 ? 1 : 0;
  }

  async #write(text: string): Promise<void> {
    if (this.#file) await this.#file.appendFile(text);
    else await print(text);
  }
}

async function openFile(path: string, written: WrittenResults | undefined): Promise<FileHandle> {
  if (written) {
    const file = await open(path, "a");
    await truncate(path, written.bytes);
    return file;
  }
  try {
    return await open(path, "ax");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${path} exists: continue it with --resume, or delete it`);
  }
}

/** The cells of a result. `failing` lists the scanners that fail it or hold it for a review, without those that only monitor. */
function csvCells(result: LineResult): string[] {
  const { line, id = "" } = result;
  if ("error" in result) return [String(line), String(id), "", "", result.error];
  const scores = "scanners" in result ? Object.entries(result.scanners) : [];
  const { would_block = [], would_mask = [], in_review = [] } = "scanners" in result ? result : {};
  const monitored = [...would_block, ...would_mask];
  const failing = scores.flatMap(([name, score]) => (Number(score) > 0 && !monitored.includes(name) ? [name] : []));
  const held = result.is_valid ? [] : in_review;
  return [String(line), String(id), String(result.is_valid), [...failing, ...held].join(" "), ""];
}
