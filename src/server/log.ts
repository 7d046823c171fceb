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
  return {
    type: error.name,
    ...(error instanceof ScannerError ? { scanner: error.scanner } : {}),
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    // Messages of the engine's own errors are about models and settings.
    ...(logContent || (error instanceof GuardError && error.code === "GUARD_MODEL") ? { message: error.message } : {}),
    // The frames alone; what stands before them is the message.
    stack: (error.stack ?? "")
      .split("\n")
      .filter((line) => /^ {4}at /.test(line))
      .join("\n"),
    ...cause,
  };
}

const LEVELS: Record<number, string> = { 10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL" };

/** A JSON line as text: time, level, message, and the rest as JSON. */
function asText(line: string): string {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line);
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${new Date(time).toISOString()} ${LEVELS[level] ?? level} ${msg ?? ""}${more}\n`;
}
