import { resolve } from "node:path";
import type { ProxyOptions } from "../proxy/index.ts";
import { type Command, numberOf, parse, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  upstream: {
    type: "string",
    multiple: true,
    value: "[PREFIX=]URL",
    help: "forward requests to this API, such as https://api.openai.com; may be repeated with prefixes: /anthropic=https://api.anthropic.com",
  },
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  guard: { type: "string", value: "URL", help: "let this guard server run the checks, instead of this process" },
  host: { type: "string", value: "ADDRESS", help: "address to listen on; default: 127.0.0.1" },
  port: { type: "string", value: "NUMBER", help: "port to listen on, 0 for a free one; default: 8080" },
  public: { type: "boolean", help: "accept calls from other machines without a credential for guard" },
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

/** `guard-scan proxy`: a reverse proxy that checks calls of models, until a signal ends it. */
export const proxy: Command = {
  name: "proxy",
  summary: "Runs a proxy that checks calls of OpenAI, Anthropic and compatible APIs.",
  usage:
    "guard-scan proxy --upstream URL [--config FILE | --guard URL] [--host ADDRESS] [--port NUMBER] [--pass PATH ...]",
  options,
  notes:
    "Clients use the proxy as their base URL, and send their own credential. Requests that guard cannot read are rejected.\n" +
    "With --guard, the environment variable GUARD_TOKEN has the bearer token for the server, if it needs one.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    if (!values.upstream) throw new UsageError("give --upstream URL: the API that requests go to");
    if (values.guard !== undefined && values.config !== undefined) {
      throw new UsageError("--config is for scanners in this process: give it or --guard, not both");
    }
    const port = numberOf("--port", values.port);
    if (port !== undefined && port > 65535)
      throw new UsageError(`--port: expected a number from 0 to 65535, got ${port}`);
    const maxBodySize = numberOf("--max-body", values["max-body"]);
    const maxOpenBodies = numberOf("--max-bodies", values["max-bodies"]);
    const maxAnswerSize = numberOf("--max-answer", values["max-answer"]);
    const maxOpenAnswers = numberOf("--max-answers", values["max-answers"]);
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
      ...(maxOpenBodies === undefined ? {} : { maxOpenBodies }),
      ...(maxAnswerSize === undefined ? {} : { maxAnswerSize }),
      ...(maxOpenAnswers === undefined ? {} : { maxOpenAnswers }),
      ...(maxCalls === undefined ? {} : { maxCalls }),
      ...(idleTimeout === undefined ? {} : { idleTimeout }),
    });
    return 0;
  },
};

/** Runs the scanners of a configuration in this process. */
async function scannersOf(option: string | undefined): Promise<Pick<ProxyOptions, "guard" | "config">> {
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
