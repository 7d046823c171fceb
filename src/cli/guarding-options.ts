import { resolve } from "node:path";
import type { ProxyOptions } from "../proxy/index.ts";
import type { Mode } from "../scan/mode.ts";
import { numberOf, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import { MODE_HELP, modeOption } from "./mode.ts";

/** The options that say what runs the checks, for all commands that check calls of model APIs. */
export const CHECK_OPTIONS = {
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  guard: { type: "string", value: "URL", help: "let this guard server run the checks, instead of this process" },
  mode: { type: "string", value: "MODE", help: MODE_HELP },
} as const;

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

type CheckValues = { [Name in keyof typeof CHECK_OPTIONS]?: string };

/** Checks the options that say what runs the checks. @returns the mode. */
export function checkModeOf({ config, guard, mode: given }: CheckValues): Mode | undefined {
  if (guard !== undefined && config !== undefined) {
    throw new UsageError("--config is for scanners in this process: give it or --guard, not both");
  }
  const mode = modeOption(given);
  if (mode === "off" && guard !== undefined) {
    throw new UsageError("--mode off: the scanners run on the server of --guard");
  }
  return mode;
}

/** Returns what runs the checks: the server of `--guard`, or the scanners of a configuration in this process. */
export async function checksOf(
  { config, guard: url }: CheckValues,
  mode: Mode | undefined,
): Promise<Pick<ProxyOptions, "guard" | "config">> {
  if (url === undefined) return scannersOf(config, mode);
  const { remoteGuard } = await import("../proxy/index.ts");
  return { guard: () => remoteGuard(url, process.env.GUARD_TOKEN, mode) };
}

/** Runs the scanners of a configuration in this process. */
async function scannersOf(
  option: string | undefined,
  mode: Mode | undefined,
): Promise<Pick<ProxyOptions, "guard" | "config">> {
  const file = configFile(option, undefined);
  const [{ loadConfig }, { localGuard }, { leastStrict }] = await Promise.all([
    import("../config/index.ts"),
    import("../proxy/local-guard.ts"),
    import("../scan/mode.ts"),
  ]);
  const { limitProcessMemory } = await import("../http-server/process-memory.ts");
  limitProcessMemory();
  const loaded = await loadConfig(file.path);
  const config = { ...loaded, app: { ...loaded.app, mode: leastStrict(loaded.app.mode, mode) } };
  return { config, guard: () => localGuard(config, { file: resolve(file.path), from: file.from }) };
}
