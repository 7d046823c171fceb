import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { UsageError } from "./command.ts";

const LINE_FEED = 0x0a;

/** A line of a file without its line feed. Numbers start at 1. */
export interface Line {
  number: number;
  bytes: Buffer;
}

/** The bytes of a file, or of standard input for `-`. A `.gz` file is unpacked. */
export function open(file: string): AsyncIterable<Buffer> {
  if (file === "-") return process.stdin;
  const source = createReadStream(file);
  if (!file.endsWith(".gz")) return source;
  const unpacking = createGunzip();
  source.on("error", (error) => unpacking.destroy(error)).pipe(unpacking);
  return unpacking;
}

/**
 * Splits bytes into lines. `node:readline` also splits at U+2028 and U+2029, which JSON strings may contain, and silently replaces
 * invalid UTF-8.
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer[] = [];
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      yield { number: ++number, bytes: Buffer.concat([...rest, chunk.subarray(start, end)]) };
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield { number: ++number, bytes: Buffer.concat(rest) };
}

/** Whether a line has only spaces, tabs, and the CR of CRLF. */
export function isBlank({ bytes }: Line): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** The number of lines that {@link linesOf} yields for a file. */
export async function countLines(file: string): Promise<number> {
  let lines = 0;
  let last = LINE_FEED;
  for await (const chunk of open(file)) {
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
    last = chunk.at(-1) ?? last;
  }
  return last === LINE_FEED ? lines : lines + 1;
}

/**
 * Decodes UTF-8 and drops a byte order mark.
 *
 * @throws TypeError for invalid UTF-8.
 */
export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TypeError("not UTF-8 text");
  }
}

/**
 * Reads a text, or standard input for `-`.
 *
 * @throws UsageError if it is not UTF-8.
 */
export async function readText(file: string): Promise<string> {
  if (file === "-" && process.stdin.isTTY) process.stderr.write("Reading the text from standard input.\n");
  const chunks: Buffer[] = [];
  for await (const chunk of open(file)) chunks.push(chunk);
  try {
    return decode(Buffer.concat(chunks));
  } catch (error) {
    throw new UsageError(`${fileName(file)}: ${(error as Error).message}`);
  }
}

/** The name of a file in messages. */
export function fileName(file: string): string {
  return file === "-" ? "standard input" : file;
}
