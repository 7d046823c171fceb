#!/usr/bin/env node
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { version } from "../support/version.ts";
import { audit } from "./audit.ts";
import { bench } from "./bench.ts";
import { calibrate } from "./calibrate.ts";
import { type Command, commandHelp, print, UsageError } from "./command.ts";
import { diff } from "./diff.ts";
import { doctor } from "./doctor.ts";
import { evaluate } from "./eval.ts";
import { init } from "./init.ts";
import { mcp } from "./mcp.ts";
import { models } from "./models.ts";
import { proxy } from "./proxy.ts";
import { scan } from "./scan.ts";
import { scanners } from "./scanners.ts";
import { serve } from "./serve.ts";

// Commands import the scanners and the addon only when they run, so that the help appears at once.
const COMMANDS: readonly Command[] = [
  serve,
  scan,
  proxy,
  mcp,
  init,
  doctor,
  scanners,
  evaluate,
  calibrate,
  diff,
  bench,
  models,
  audit,
];

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

/** Whether the arguments ask for help. What stands behind `--` is the text to be scanned, even if it reads `--help`. */
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
  // An error that is neither a mistake of the user nor a failure of the system is a bug of guard: the stack trace says where.
  const expected =
    error instanceof UsageError || error instanceof GuardError || (error as NodeJS.ErrnoException)?.syscall;
  return `guard: ${error instanceof Error ? (expected ? error.message : error.stack) : String(error)}`;
}

// Writing to a pipe whose reader is gone emits an error event. Without a listener it would end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  const code = await main(process.argv.slice(2));
  // A server may set another exit code when it ends, long after its command has returned 0.
  if (code !== 0) process.exitCode = code;
} catch (error) {
  // In `guard scan --jsonl | head` the reader ends first: nobody is left who could read a message.
  if ((error as NodeJS.ErrnoException)?.code !== "EPIPE") process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 2;
}
