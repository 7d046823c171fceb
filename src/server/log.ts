import type { FastifyLoggerOptions } from "fastify";
import type { Config } from "../config/index.ts";
import { GuardError, ScannerError } from "../errors.ts";

/** Where log lines go, each ending in a line break. */
export interface LogStream {
  write(line: string): unknown;
}

/** How the server logs. Of requests nothing is logged but what the request log says itself. */
export function loggerOptions(
  { logLevel, logJson, logContent }: Config["app"],
  stream: LogStream,
): FastifyLoggerOptions & object {
  return {
    level: logLevel,
    stream: logJson ? stream : { write: (line: string) => stream.write(asText(line)) },
    serializers: {
      req: ({ method }: { method: string }) => ({ method }),
      err: (error: unknown) => shownError(error, logContent),
    },
  } as FastifyLoggerOptions & object;
}

/** What may be logged of an error: messages of scanners and parsers may quote the text that they were given. */
function shownError(error: unknown, logContent: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const cause = error.cause instanceof Error ? { cause: shownError(error.cause, logContent) } : {};
  const frames = framesOf(error);
  return {
    type: error.name,
    ...(error instanceof ScannerError ? { scanner: error.scanner } : {}),
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    // Messages of the engine's own errors are about models and settings.
    ...(logContent || (error instanceof GuardError && error.code === "GUARD_MODEL") ? { message: error.message } : {}),
    ...(frames === "" ? {} : { stack: frames }),
    ...cause,
  };
}

/**
 * The frames alone of an error's stack. Lines of the message may look like frames, so it is taken off first; a stack that does
 * not begin with it has it somewhere else, or another one.
 */
function framesOf({ message, stack }: Error): string {
  if (typeof stack !== "string") return "";
  // The name may be another one now: some are set after the stack was written. Node's own errors have their code behind it.
  const [name = ""] = /^[\w$]+(?: \[\w+\])?/.exec(stack) ?? [];
  const header = message === "" ? name : `${name}: ${message}`;
  if (name === "" || !stack.startsWith(`${header}\n`)) return "";
  return stack
    .slice(header.length)
    .split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .join("\n");
}

const LEVELS: Record<number, string> = { 10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL" };

/** A JSON line as text: time, level, message, and the rest as JSON. */
function asText(line: string): string {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line);
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${new Date(time).toISOString()} ${LEVELS[level] ?? level} ${msg ?? ""}${more}\n`;
}
