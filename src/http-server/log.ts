import type { FastifyLoggerOptions } from "fastify";
import type { Config } from "../config/index.ts";
import { GuardError, ScannerError } from "../support/errors.ts";

/** Where log lines go. */
export interface LogStream {
  /** Takes one line, which ends in a line break. */
  write(line: string): unknown;
}

/** How the server logs. The plugin requestLog alone decides what is logged of a request. */
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

/** What may be logged of an error. Messages of scanners and parsers may quote the text that they were given, so they are left out. */
function shownError(error: unknown, logContent: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const cause = error.cause instanceof Error ? { cause: shownError(error.cause, logContent) } : {};
  const frames = framesOf(error);
  return {
    type: error.name,
    ...(error instanceof ScannerError ? { scanner: error.scanner } : {}),
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    // The messages of GUARD_MODEL are about files of models and settings, never about texts.
    ...(logContent || (error instanceof GuardError && error.code === "GUARD_MODEL") ? { message: error.message } : {}),
    ...(frames === "" ? {} : { stack: frames }),
    ...cause,
  };
}

/**
 * The frames of an error's stack, without its message: lines of a message may look like frames (`    at my home`). A stack that
 * does not begin with the message may hold it somewhere else, or hold another one, so nothing of such a stack is shown.
 */
function framesOf({ message, stack }: Error): string {
  if (typeof stack !== "string") return "";
  // The name is read from the stack: `error.name` may have been set after the stack was written. Node's own errors have their
  // code behind the name: `TypeError [ERR_INVALID_URL]: ...`.
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

/** A line in JSON as text: time, level, message, and the other fields in JSON. */
function asText(line: string): string {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line);
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${new Date(time).toISOString()} ${LEVELS[level] ?? level} ${msg ?? ""}${more}\n`;
}
