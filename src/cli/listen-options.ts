import type { ListenOptions } from "../grpc/start-server.ts";
import { UsageError } from "./command.ts";
import { portOf } from "./guarding-options.ts";

/** The options of commands that serve gRPC. */
export const LISTEN_OPTIONS = {
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
} as const;

type ListenValues = { [Name in keyof typeof LISTEN_OPTIONS]?: Name extends "public" ? boolean : string };

/** Returns the options that are given. */
export function listenOf(values: ListenValues): Omit<ListenOptions, "config"> {
  const { host, public: isPublic = false, "tls-cert": cert, "tls-key": key, "tls-client-ca": clientCa } = values;
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("give --tls-cert and --tls-key together");
  if (clientCa !== undefined && cert === undefined) throw new UsageError("--tls-client-ca needs --tls-cert");
  const port = portOf("--port", values.port);
  const httpPort = portOf("--http-port", values["http-port"]);
  const tls = cert !== undefined && key !== undefined ? { cert, key, ...(clientCa ? { clientCa } : {}) } : undefined;
  return {
    isPublic,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(httpPort === undefined ? {} : { httpPort }),
    ...(tls ? { tls } : {}),
  };
}
