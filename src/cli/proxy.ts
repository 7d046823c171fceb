import { resolve } from "node:path";
import type { ProxyOptions } from "../proxy/index.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  upstream: {
    type: "string",
    multiple: true,
    value: "[PREFIX=]URL",
    help: "the API that requests go to, such as https://api.openai.com; with a prefix, several: /anthropic=https://api.anthropic.com",
  },
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  guard: { type: "string", value: "URL", help: "a guard server that makes the checks, in the place of scanners here" },
  host: { type: "string", value: "ADDRESS", help: "address to listen on; default: 127.0.0.1" },
  port: { type: "string", value: "NUMBER", help: "port to listen on, 0 for a free one; default: 8080" },
  public: { type: "boolean", help: "lets other machines call without a credential of guard's own" },
  pass: {
    type: "string",
    multiple: true,
    value: "PATH",
    help: "a path that goes to the upstream unchecked, such as /v1/files, or all below one: /v1/files/*; may be repeated",
  },
  "max-body": { type: "string", value: "BYTES", help: "the largest body of a request; default: 33554432" },
  "max-answer": { type: "string", value: "BYTES", help: "the largest answer that is checked; default: 268435456" },
  "max-calls": { type: "string", value: "NUMBER", help: "the most calls at a time; default: 256" },
  "idle-timeout": {
    type: "string",
    value: "SECONDS",
    help: "how long an upstream may send nothing; default: 600",
  },
} as const;

/** `guard-scan proxy`: a guarding reverse proxy, until the process is told to end. */
export const proxy: Command = {
  name: "proxy",
  summary: "Guards calls of models: a proxy in front of OpenAI, Anthropic or what speaks as they do.",
  usage:
    "guard-scan proxy --upstream URL [--config FILE | --guard URL] [--host ADDRESS] [--port NUMBER] [--pass PATH ...]",
  options,
  notes:
    "Clients use it as their base URL, and send their credential as before. What guard cannot read is refused.\n" +
    "With --guard the environment variable GUARD_TOKEN has the bearer token of the server, if it asks for one.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    if (!values.upstream) throw new UsageError("give --upstream URL: the API that requests go to");
    if (values.guard !== undefined && values.config !== undefined) {
      throw new UsageError("--config is for scanners of this process: give it or --guard");
    }
    const port = numberOf("--port", values.port);
    if (port !== undefined && port > 65535)
      throw new UsageError(`--port: expected a number from 0 to 65535, got ${port}`);
    const maxBodySize = numberOf("--max-body", values["max-body"]);
    const maxAnswerSize = numberOf("--max-answer", values["max-answer"]);
    const maxCalls = numberOf("--max-calls", values["max-calls"]);
    const idleTimeout = numberOf("--idle-timeout", values["idle-timeout"]);
    const { startProxy, remoteGuard } = await import("../proxy/index.ts");
    const checks: Pick<ProxyOptions, "guard" | "config"> =
      values.guard === undefined
        ? await scannersOf(values.config)
        : { guard: () => remoteGuard(values.guard as string, process.env.GUARD_TOKEN) };
    // The proxy keeps the process alive until a signal closes it or a model cannot be loaded.
    await startProxy({
      ...checks,
      upstreams: values.upstream,
      pass: values.pass ?? [],
      isPublic: values.public ?? false,
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(port === undefined ? {} : { port }),
      ...(maxBodySize === undefined ? {} : { maxBodySize }),
      ...(maxAnswerSize === undefined ? {} : { maxAnswerSize }),
      ...(maxCalls === undefined ? {} : { maxCalls }),
      ...(idleTimeout === undefined ? {} : { idleTimeout }),
    });
    return 0;
  },
};

/** The scanners of a configuration, in this process. */
async function scannersOf(option: string | undefined): Promise<Pick<ProxyOptions, "guard" | "config">> {
  const file = configFile(option, undefined);
  const [{ loadConfig }, { localGuard }] = await Promise.all([
    import("../config/index.ts"),
    import("../proxy/local-guard.ts"),
  ]);
  const config = await loadConfig(file.path);
  return { config, guard: () => localGuard(config, { file: resolve(file.path), from: file.from }) };
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return;
  if (!/^\d+$/.test(text)) throw new UsageError(`${option}: expected a number, got ${text}`);
  return Number(text);
}
