#!/usr/bin/env node
import { didYouMean } from "../did-you-mean.ts";
import { GuardError, GuardValidationError } from "../errors.ts";
import { version } from "../version.ts";
import { calibrate } from "./calibrate.ts";
import { type Command, commandHelp, print, UsageError } from "./command.ts";
import { doctor } from "./doctor.ts";
import { evaluate } from "./eval.ts";
import { init } from "./init.ts";
import { models } from "./models.ts";
import { scan } from "./scan.ts";
import { scanners } from "./scanners.ts";
import { serve } from "./serve.ts";

// The commands load the scanners and the addon when they run, so that the help is there at once.
const COMMANDS: readonly Command[] = [serve, scan, init, doctor, scanners, evaluate, calibrate, models];

async function main([name, ...args]: string[]): Promise<number> {
  if (name === "--version" || name === "-v") {
    await print(`${version}\n`);
    return 0;
  }
  if (name === undefined) {
    process.stderr.write(help());
    return 2;
  }
  if (name === "--help" || name === "-h" || (name === "help" && args.length === 0)) {
    await print(help());
    return 0;
  }
  const command = find(name === "help" ? (args[0] as string) : name);
  if (name === "help" || asksForHelp(args)) {
    await print(commandHelp(command));
    return 0;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}\nSee: guard help ${command.name}`);
  }
}

function find(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found) return found;
  const what = name.startsWith("-") ? "option" : "command";
  const names = COMMANDS.map((command) => command.name);
  throw new UsageError(`unknown ${what} ${name}${didYouMean(name, names)}\nSee: guard --help`);
}

/** Behind `--` stands the text to be scanned, whatever it looks like. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === "--help" || arg === "-h");
}

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const list = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
  return `guard ${version}: checks what goes into and comes out of large language models

Usage: guard COMMAND [OPTIONS]

${list}

guard help COMMAND tells more. Exit codes: 0 passed, 1 a scan failed, 2 an error.
`;
}

/** Says what went wrong, in one line for each thing at fault. */
function explain(error: unknown): string {
  if (error instanceof GuardValidationError) {
    return error.issues.map(({ path, message }) => `guard: ${path ? `${path}: ` : ""}${message}`).join("\n");
  }
  // What is neither a mistake of the user nor a failure of the system is a bug of ours, and its place matters.
  const expected =
    error instanceof UsageError || error instanceof GuardError || (error as NodeJS.ErrnoException)?.syscall;
  return `guard: ${error instanceof Error ? (expected ? error.message : error.stack) : String(error)}`;
}

// Writing to a pipe whose reader is gone also emits an event, which would end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  const code = await main(process.argv.slice(2));
  // A server may set another code when it ends, long after its command is done.
  if (code !== 0) process.exitCode = code;
} catch (error) {
  // `guard scan --jsonl | head`: nobody is left to be told anything.
  if ((error as NodeJS.ErrnoException)?.code !== "EPIPE") process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 2;
}
