import { GRPC, requirePackages } from "../support/optional-packages.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { CHECK_OPTIONS, checkModeOf, checksOf, LIMIT_OPTIONS, limitsOf, portOf } from "./door-options.ts";

const options = {
  ...CHECK_OPTIONS,
  host: { type: "string", value: "ADDRESS", help: "address to listen on; default: 127.0.0.1" },
  port: { type: "string", value: "NUMBER", help: "port for gRPC, 0 for a free one; default: 9002" },
  "http-port": {
    type: "string",
    value: "NUMBER",
    help: "port for GET /healthz, /readyz and /metrics, 0 for a free one; default: 9003",
  },
  public: { type: "boolean", help: "accept calls from other machines without a credential or certificate" },
  "tls-cert": { type: "string", value: "FILE", help: "certificate of the gRPC server (PEM); needs --tls-key" },
  "tls-key": { type: "string", value: "FILE", help: "private key of the certificate (PEM)" },
  "tls-client-ca": {
    type: "string",
    value: "FILE",
    help: "accept only clients with a certificate of these authorities (PEM)",
  },
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
    const { "tls-cert": cert, "tls-key": key, "tls-client-ca": clientCa, "caller-header": callerHeader } = values;
    if ((cert === undefined) !== (key === undefined)) throw new UsageError("give --tls-cert and --tls-key together");
    if (clientCa !== undefined && cert === undefined) throw new UsageError("--tls-client-ca needs --tls-cert");
    const ports = { port: portOf("--port", values.port), httpPort: portOf("--http-port", values["http-port"]) };
    const limits = limitsOf(values);
    requirePackages("guard-scan ext-proc", GRPC);
    const { startExtProc } = await import("../grpc/start-ext-proc.ts");
    // The server keeps the process alive until a signal closes it or a model cannot be loaded.
    await startExtProc({
      ...(await checksOf(values, mode)),
      ...limits,
      isPublic: values.public ?? false,
      ...(cert !== undefined && key !== undefined ? { tls: { cert, key, ...(clientCa ? { clientCa } : {}) } } : {}),
      ...(callerHeader === undefined ? {} : { callerHeader }),
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(ports.port === undefined ? {} : { port: ports.port }),
      ...(ports.httpPort === undefined ? {} : { httpPort: ports.httpPort }),
    });
    return 0;
  },
};
