import { GRPC, requirePackages } from "../support/optional-packages.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { CHECK_OPTIONS, checkModeOf, checksOf, LIMIT_OPTIONS, limitsOf } from "./guarding-options.ts";
import { LISTEN_OPTIONS, listenOf } from "./listen-options.ts";

const options = {
  ...CHECK_OPTIONS,
  ...LISTEN_OPTIONS,
  "caller-header": {
    type: "string",
    value: "NAME",
    help: "request header that names the caller, for shares of memory; default: Envoy's attribute source.address",
  },
  ...LIMIT_OPTIONS,
} as const;

/** `guard-scan ext-proc`: an external processor of Envoy, until a signal ends it. */
export const extProc: Command = {
  name: "ext-proc",
  summary: "Checks calls of model APIs that Envoy forwards, as its external processor (gRPC).",
  usage:
    "guard-scan ext-proc [--config FILE | --guard URL] [--mode MODE] [--host ADDRESS] [--port NUMBER] [--http-port NUMBER] ...",
  options,
  notes:
    "Envoy, Envoy Gateway and other gateways with ext_proc send requests and responses to it, and take its changes and refusals.\n" +
    "With --guard, the environment variable GUARD_TOKEN has the bearer token for the server, if it needs one.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    const mode = checkModeOf(values);
    const { "caller-header": callerHeader } = values;
    const listen = listenOf(values);
    const limits = limitsOf(values);
    requirePackages("guard-scan ext-proc", GRPC);
    const { startExtProc } = await import("../grpc/start-ext-proc.ts");
    // The server keeps the process alive until a signal closes it or a model cannot be loaded.
    await startExtProc({
      ...(await checksOf(values, mode)),
      ...limits,
      ...listen,
      ...(callerHeader === undefined ? {} : { callerHeader }),
    });
    return 0;
  },
};
