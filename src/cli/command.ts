import { type ParseArgsConfig, parseArgs } from "node:util";
import { didYouMean } from "../support/did-you-mean.ts";
import { isRecord } from "../support/is-record.ts";

/** An option of a command, for the parser and for the help. */
export interface Option {
  type: "string" | "boolean";
  multiple?: boolean;
  /** The placeholder of the value in the help, such as `FILE`. */
  value?: string;
  help: string;
}

/** A command of the CLI. */
export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  usage: string;
  options: Record<string, Option>;
  /** Text below the options in the help. */
  notes?: string;
  /** Runs the command and returns the exit code: 0 passed, 1 a scan failed, 2 an error. */
  run(args: string[]): Promise<number>;
}

/** The command line is invalid. */
export class UsageError extends Error {}

type ParsedArguments<Options extends NonNullable<ParseArgsConfig["options"]>> = ReturnType<
  typeof parseArgs<{ options: Options; strict: true; allowPositionals: true; tokens: true }>
>;

/**
 * Parses the arguments of a command.
 *
 * @throws UsageError for an unknown option, with the most similar one, and for a missing value.
 */
export function parse<const Options extends Record<string, Option>>(
  options: Options,
  args: string[],
): ParsedArguments<Options> {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true, tokens: true }) as ParsedArguments<Options>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
      const [unknown = ""] = /(?<=')-[^']*/.exec(message) ?? [];
      const known = Object.keys(options).map((name) => `--${name}`);
      throw new UsageError(`unknown option ${unknown}${didYouMean(unknown, known)}`);
    }
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    // The first line of the message names the option; the others are advice.
    const [reason = message] = message.split("\n");
    throw new UsageError(reason);
  }
}

/**
 * Parses the parameters of a scanner, the JSON after `--params`.
 *
 * @param type the type of the scanner, for the error message.
 */
export function parseParams(type: string, json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--params of ${type}: not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new UsageError(`--params of ${type}: expected a JSON object`);
  return value;
}

/** The help of one command. */
export function commandHelp({ usage, summary, options, notes }: Command): string {
  const rows = Object.entries({ ...options, help: { help: "show this help", value: undefined } }).map(
    ([name, { value, help }]) => [`  --${name}${value ? ` ${value}` : ""}`, help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  const list = rows.map(([left, help]) => `${left.padEnd(width)}  ${help}`).join("\n");
  return `Usage: ${usage}\n\n${summary}\n\n${list}\n${notes ? `\n${notes}\n` : ""}`;
}

/** The width of the terminal in characters; undefined if standard output is not a terminal, and lines may be of any length. */
export function lineWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/**
 * Writes to standard output and waits until the text is written: a slow reader applies backpressure.
 *
 * @returns a promise that rejects with `EPIPE` if the reader is gone.
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Reads the value of an option as a whole number.
 *
 * @throws UsageError for anything else.
 */
export function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return;
  if (!/^\d+$/.test(text)) throw new UsageError(`${option}: expected a number, got ${text}`);
  return Number(text);
}
