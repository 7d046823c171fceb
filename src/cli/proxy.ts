import { type Command, parse, UsageError } from "./command.ts";
import { CHECK_OPTIONS, checkModeOf, checksOf, LIMIT_OPTIONS, limitsOf, portOf } from "./guarding-options.ts";

const options = {
  upstream: {
    type: "string",
    multiple: true,
    value: "[PREFIX=]URL",
    help: "forward requests to this API, such as https://api.openai.com; may be repeated with prefixes: /anthropic=https://api.anthropic.com",
  },
  ...CHECK_OPTIONS,
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
    "guard-scan proxy --upstream URL [--config FILE | --guard URL] [--mode MODE] [--host ADDRESS] [--port NUMBER] [--pass PATH ...]",
  options,
  notes:
    "Clients use the proxy as their base URL, and send their own credential. Requests that guard cannot read are rejected.\n" +
    "With --guard, the environment variable GUARD_TOKEN has the bearer token for the server, if it needs one.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    if (!values.upstream) throw new UsageError("give --upstream URL: the API that requests go to");
    const mode = checkModeOf(values);
    const port = portOf("--port", values.port);
    const limits = limitsOf(values);
    const { startProxy } = await import("../proxy/index.ts");
    // The proxy keeps the process alive until a signal closes it or a model cannot be loaded.
    await startProxy({
      ...(await checksOf(values, mode)),
      upstreams: values.upstream,
      ...limits,
      isPublic: values.public ?? false,
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(port === undefined ? {} : { port }),
    });
    return 0;
  },
};
