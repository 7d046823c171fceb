import { type ParseArgsConfig, parseArgs } from "node:util";
import { didYouMean } from "../support/did-you-mean.ts";

/** An option of a command: how it is parsed, and what the help says of it. */
export interface Option {
  type: "string" | "boolean";
  multiple?: boolean;
  /** What stands for the value in the help. */
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
  /** Further text of the help. */
  notes?: string;
  /** Runs the command and tells the exit code: 0 passed, 1 a scan failed, 2 an error. */
  run(args: string[]): Promise<number>;
}

/** A command line that cannot be understood. */
export class UsageError extends Error {}

type Parsed<Options extends NonNullable<ParseArgsConfig["options"]>> = ReturnType<
  typeof parseArgs<{ options: Options; strict: true; allowPositionals: true; tokens: true }>
>;

/**
 * Parses the arguments of a command.
 *
 * @throws UsageError for an unknown option or a missing value, with the option that may have been meant.
 */
export function parse<const Options extends Record<string, Option>>(options: Options, args: string[]): Parsed<Options> {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true, tokens: true }) as Parsed<Options>;
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

/** The help of one command. */
export function commandHelp({ usage, summary, options, notes }: Command): string {
  const rows = Object.entries({ ...options, help: { help: "show this help", value: undefined } }).map(
    ([name, { value, help }]) => [`  --${name}${value ? ` ${value}` : ""}`, help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  const list = rows.map(([left, help]) => `${left.padEnd(width)}  ${help}`).join("\n");
  return `Usage: ${usage}\n\n${summary}\n\n${list}\n${notes ? `\n${notes}\n` : ""}`;
}

/** The characters that a line of standard output may have; undefined where it is no terminal, and lines may be of any length. */
export function lineWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/**
 * Writes to standard output and waits until it is written, so that a slow reader slows the command down and no memory fills up.
 *
 * @returns rejected when the reader is gone (`EPIPE`).
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
