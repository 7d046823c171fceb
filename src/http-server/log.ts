import type { FastifyLoggerOptions } from "fastify";
import type { Config } from "../config/index.ts";
import { GuardError, ScannerError } from "../support/errors.ts";

/** The destination of log lines. */
export interface LogStream {
  /** Writes one line, which includes its line break. */
  write(line: string): unknown;
}

/** Returns Fastify's logger options. Only the plugin requestLog logs anything of a request. */
export function loggerOptions(
  { logLevel, logJson, logContent }: Config["app"],
  stream: LogStream,
): FastifyLoggerOptions & object {
  return {
    level: logLevel,
    stream: logJson ? stream : { write: (line: string) => stream.write(asText(line)) },
    serializers: {
      req: ({ method }: { method: string }) => ({ method }),
      err: (error: unknown) => errorFields(error, logContent),
    },
  } as FastifyLoggerOptions & object;
}

/** Returns the loggable fields of an error. Messages of scanners and parsers may quote the scanned text, so they are left out. */
function errorFields(error: unknown, logContent: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const cause = error.cause instanceof Error ? { cause: errorFields(error.cause, logContent) } : {};
  const frames = framesOf(error);
  return {
    type: error.name,
    ...(error instanceof ScannerError ? { scanner: error.scanner } : {}),
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    // Messages of GUARD_MODEL are about model files and settings, never about scanned texts.
    ...(logContent || (error instanceof GuardError && error.code === "GUARD_MODEL") ? { message: error.message } : {}),
    ...(frames === "" ? {} : { stack: frames }),
    ...cause,
  };
}

/**
 * Returns the frames of an error's stack without its message. Lines of a message may look like frames (`    at my home`), so a stack that
 * does not start with the message gives no frames.
 */
function framesOf({ message, stack }: Error): string {
  if (typeof stack !== "string") return "";
  // `error.name` may have changed since the stack was written. Errors of Node.js have a code after the name:
  // `TypeError [ERR_INVALID_URL]: ...`.
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

/** Turns a JSON log line into text: time, level, message, and the other fields in JSON. */
function asText(line: string): string {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line);
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${new Date(time).toISOString()} ${LEVELS[level] ?? level} ${msg ?? ""}${more}\n`;
}
