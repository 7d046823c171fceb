import type { ProxyOptions } from "../proxy/index.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { CONFIG_HELP } from "./config-path.ts";
import { LIMIT_OPTIONS, limitsOf, portOf, scannersOf } from "./door-options.ts";

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
  ...LIMIT_OPTIONS,
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
    const port = portOf("--port", values.port);
    const limits = limitsOf(values);
    const { startProxy, remoteGuard } = await import("../proxy/index.ts");
    const checks: Pick<ProxyOptions, "guard" | "config"> =
      values.guard === undefined
        ? await scannersOf(values.config)
        : { guard: () => remoteGuard(values.guard as string, process.env.GUARD_TOKEN) };
    // The proxy keeps the process alive until a signal closes it or a model cannot be loaded.
    await startProxy({
      ...checks,
      upstreams: values.upstream,
      ...limits,
      isPublic: values.public ?? false,
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(port === undefined ? {} : { port }),
    });
    return 0;
  },
};
