import { resolve } from "node:path";
import { ownFile } from "../own-files.ts";
import { GRPC, requirePackages } from "../support/optional-packages.ts";
import { type Command, numberOf, parse, UsageError } from "./command.ts";
import { LISTEN_OPTIONS, listenOf } from "./listen-options.ts";

const options = {
  config: { type: "string", value: "FILE", help: "configuration file; default: guard's own mcp.yml" },
  "on-finding": { type: "string", value: "mask|block", help: "mask or block results that fail; default: mask" },
  ...LISTEN_OPTIONS,
  "max-message": { type: "string", value: "BYTES", help: "maximum size of a message; default: 4194304" },
  "max-calls": { type: "string", value: "NUMBER", help: "maximum number of concurrent checks; default: 256" },
} as const;

/** `guard-scan ext-mcp`: a policy server of agentgateway for MCP, until a signal ends it. */
export const extMcp: Command = {
  name: "ext-mcp",
  summary: "Checks messages of MCP that agentgateway forwards, as its policy server (gRPC).",
  usage: "guard-scan ext-mcp [--config FILE] [--on-finding mask|block] [--host ADDRESS] [--port NUMBER] ...",
  options,
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    const onFinding = values["on-finding"] ?? "mask";
    if (onFinding !== "mask" && onFinding !== "block") throw new UsageError("--on-finding: expected mask or block");
    const listen = listenOf(values);
    const maxCalls = numberOf("--max-calls", values["max-calls"]);
    const maxMessageSize = numberOf("--max-message", values["max-message"]);
    requirePackages("guard-scan ext-mcp", [...GRPC, "@modelcontextprotocol/client"]);
    const [{ startExtMcp }, { loadConfig }] = await Promise.all([
      import("../grpc/start-ext-mcp.ts"),
      import("../config/index.ts"),
    ]);
    const file = values.config ?? ownFile("mcp.yml");
    await startExtMcp({
      ...listen,
      config: await loadConfig(file),
      source: { file: resolve(file), from: values.config === undefined ? "guard" : "--config" },
      onFinding,
      ...(maxCalls === undefined ? {} : { maxCalls }),
      ...(maxMessageSize === undefined ? {} : { maxMessageSize }),
    });
    return 0;
  },
};
