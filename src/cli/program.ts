import { didYouMean } from "../support/did-you-mean.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { version } from "../support/version.ts";
import { type Command, commandHelp, print, UsageError } from "./command.ts";

/** A command-line program with commands. */
export interface Program {
  /** How a shell starts it. */
  name: string;
  summary: string;
  commands: readonly Command[];
}

/** Runs a program with the arguments of the process and sets the exit code. Errors go to standard error. */
export async function runProgram(program: Program, args: string[]): Promise<void> {
  // Writing to a pipe whose reader is gone emits an error event. Without a listener it would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    const code = await runCommand(program, args);
    // A server may set another exit code when it ends, long after its command has returned 0.
    if (code !== 0) process.exitCode = code;
  } catch (error) {
    // In `guard-scan scan --jsonl | head` the reader ends first: nobody is left who could read a message.
    if ((error as NodeJS.ErrnoException)?.code !== "EPIPE") process.stderr.write(`${errorText(error)}\n`);
    process.exitCode = 2;
  }
}

async function runCommand(program: Program, [name, ...args]: string[]): Promise<number> {
  if (name === "--version" || name === "-v") {
    await print(`${version}\n`);
    return 0;
  }
  if (name === undefined) {
    process.stderr.write(programHelp(program));
    return 2;
  }
  if (name === "--help" || name === "-h" || (name === "help" && args.length === 0)) {
    await print(programHelp(program));
    return 0;
  }
  const command = findCommand(program, name === "help" ? (args[0] as string) : name);
  if (name === "help" || asksForHelp(args)) {
    await print(commandHelp(command));
    return 0;
  }
  try {
    return await command.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}\nSee: ${program.name} help ${command.name}`);
  }
}

function findCommand({ name: program, commands }: Program, name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const kind = name.startsWith("-") ? "option" : "command";
  const names = commands.map((command) => command.name);
  throw new UsageError(`unknown ${kind} ${name}${didYouMean(name, names)}\nSee: ${program} --help`);
}

/** Whether the arguments ask for help. Everything after `--` is data, even `--help`. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === "--help" || arg === "-h");
}

function programHelp({ name: program, summary, commands }: Program): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
  return `${program} ${version}: ${summary}

Usage: ${program} COMMAND [OPTIONS]

${list}

Run ${program} help COMMAND for details. Exit codes: 0 passed, 1 a scan failed, 2 an error.
`;
}

/** The message of an error: one line for each issue of a validation error. */
function errorText(error: unknown): string {
  if (error instanceof GuardValidationError) {
    return error.issues.map(({ path, message }) => `guard: ${path ? `${path}: ` : ""}${message}`).join("\n");
  }
  // Errors of other types are bugs of guard, so the stack trace is shown.
  const isExpected =
    error instanceof UsageError || error instanceof GuardError || (error as NodeJS.ErrnoException)?.syscall;
  return `guard: ${error instanceof Error ? (isExpected ? error.message : error.stack) : String(error)}`;
}
