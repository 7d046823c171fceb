import { readFile } from "node:fs/promises";
import { GuardValidationError } from "../support/errors.ts";
import type { Namespace } from "./descriptors.ts";
import { HEALTH, healthService } from "./health.ts";
import { grpcPackage, type Handlers, protoLoader, type Server, type ServerCredentials } from "./packages.ts";

/** The files of a server with TLS, in PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
  /** The certificates of authorities whose clients may call. Without it, clients need no certificate. */
  clientCa?: string;
}

/** A service with the messages that it needs. */
export interface GrpcService {
  /** The package, such as `envoy.service.ext_proc.v3`. */
  package: string;
  name: string;
  messages: Namespace;
  handlers: Handlers;
}

export interface GrpcServerOptions {
  /** The bytes of the largest message that clients may send. */
  maxMessageSize: number;
  /** Calls of one connection at a time. */
  maxStreams: number;
  isReady(): Promise<boolean>;
}

/** A gRPC server, which also answers health checks. */
export class GrpcServer {
  readonly #server: Server;

  constructor({ maxMessageSize, maxStreams, isReady }: GrpcServerOptions) {
    this.#server = new (grpcPackage().Server)({
      "grpc.max_receive_message_length": maxMessageSize,
      "grpc.max_concurrent_streams": maxStreams,
    });
    this.addService({ package: "grpc.health.v1", name: "Health", messages: HEALTH, handlers: healthService(isReady) });
  }

  addService({ package: packageName, name, messages, handlers }: GrpcService): void {
    const inner: object = { nested: messages };
    const root = packageName.split(".").reduceRight<object>((nested, part) => ({ nested: { [part]: nested } }), inner);
    const definitions = protoLoader().fromJSON(root, { longs: Number });
    this.#server.addService(definitions[`${packageName}.${name}`] as object, handlers);
  }

  /**
   * Listens on an address.
   *
   * @returns the port.
   * @throws GuardValidationError for a file of TLS that cannot be read.
   */
  async listen({ host, port, tls }: { host: string; port: number; tls: TlsFiles | undefined }): Promise<number> {
    const credentials = tls ? await tlsCredentials(tls) : grpcPackage().ServerCredentials.createInsecure();
    const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
  }

  /** Refuses new calls, waits for those in progress, and cuts them after a time. */
  async close(graceMs: number): Promise<void> {
    const force = setTimeout(() => this.#server.forceShutdown(), graceMs);
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    clearTimeout(force);
  }
}

async function tlsCredentials({ cert, key, clientCa }: TlsFiles): Promise<ServerCredentials> {
  const read = async (option: string, file: string) => {
    try {
      return await readFile(file);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new GuardValidationError([{ path: option, message: `cannot read ${file}: ${code}` }]);
    }
  };
  const pair = { cert_chain: await read("tls-cert", cert), private_key: await read("tls-key", key) };
  const authorities = clientCa === undefined ? null : await read("tls-client-ca", clientCa);
  try {
    return grpcPackage().ServerCredentials.createSsl(authorities, [pair], authorities !== null);
  } catch (error) {
    throw new GuardValidationError([{ path: "tls-cert", message: (error as Error).message }]);
  }
}
