import { resolve } from "node:path";
import type { ProxyOptions } from "../proxy/index.ts";
import { numberOf, UsageError } from "./command.ts";
import { configFile } from "./config-path.ts";

/** The options that limit calls of model APIs, for all commands that check them. */
export const LIMIT_OPTIONS = {
  pass: {
    type: "string",
    multiple: true,
    value: "PATH",
    help: "forward this path unchecked, such as /v1/files, or /v1/files/* for all paths below; may be repeated",
  },
  "max-body": { type: "string", value: "BYTES", help: "maximum size of a request body; default: 33554432" },
  "max-bodies": {
    type: "string",
    value: "BYTES",
    help: "maximum size of the bodies of all requests in progress; default: 67108864, and at least two of --max-body",
  },
  "max-answer": { type: "string", value: "BYTES", help: "maximum size of a response; default: 268435456" },
  "max-answers": {
    type: "string",
    value: "BYTES",
    help: "maximum memory for all answers in progress; default: 134217728",
  },
  "max-calls": { type: "string", value: "NUMBER", help: "maximum number of concurrent calls; default: 256" },
  "idle-timeout": {
    type: "string",
    value: "SECONDS",
    help: "maximum time without data from the upstream; default: 600",
  },
} as const;

type LimitValues = { [Name in keyof typeof LIMIT_OPTIONS]?: Name extends "pass" ? string[] : string } & object;

/** Returns the limits that are given. */
export function limitsOf(values: LimitValues) {
  const limits = {
    maxBodySize: numberOf("--max-body", values["max-body"]),
    maxOpenBodies: numberOf("--max-bodies", values["max-bodies"]),
    maxAnswerSize: numberOf("--max-answer", values["max-answer"]),
    maxOpenAnswers: numberOf("--max-answers", values["max-answers"]),
    maxCalls: numberOf("--max-calls", values["max-calls"]),
    idleTimeout: numberOf("--idle-timeout", values["idle-timeout"]),
  };
  const given = Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { pass: values.pass ?? [], ...(Object.fromEntries(given) as { [Name in keyof typeof limits]?: number }) };
}

/** Reads the value of an option as the number of a port. */
export function portOf(option: string, text: string | undefined): number | undefined {
  const port = numberOf(option, text);
  if (port !== undefined && port > 65535) {
    throw new UsageError(`${option}: expected a number from 0 to 65535, got ${port}`);
  }
  return port;
}

/** Runs the scanners of a configuration in this process. */
export async function scannersOf(option: string | undefined): Promise<Pick<ProxyOptions, "guard" | "config">> {
  const file = configFile(option, undefined);
  const [{ loadConfig }, { localGuard }] = await Promise.all([
    import("../config/index.ts"),
    import("../proxy/local-guard.ts"),
  ]);
  const { limitProcessMemory } = await import("../http-server/process-memory.ts");
  limitProcessMemory();
  const config = await loadConfig(file.path);
  return { config, guard: () => localGuard(config, { file: resolve(file.path), from: file.from }) };
}
