import { checkConfig } from "../config/index.ts";
import { graceOf } from "./app.ts";
import { prepareServer, type ServerOptions } from "./create-server.ts";
import { assertSafeToListen } from "./safe-address.ts";

/** Where and how a server listens. */
export interface ListenOptions extends ServerOptions {
  /** Address to listen on. Default: `app.host` of the configuration. */
  host?: string;
  /** Default: `app.port` of the configuration; 0 takes a free one. */
  port?: number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:8000`. */
  url: string;
  /** Refuses new requests, lets those under way finish, and frees the models. */
  close(): Promise<void>;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Starts the HTTP API as the program of this process: SIGTERM and SIGINT close it, and a model that cannot be loaded ends it
 * with exit code 2.
 *
 * @throws GuardValidationError for a bad configuration, or an address that is open to others without `auth`.
 */
export async function startServer({ host, port, signal, ...options }: ListenOptions): Promise<RunningServer> {
  const config = checkConfig(options.config);
  const at = { host: host ?? config.app.host, port: port ?? config.app.port };
  assertSafeToListen(config, at.host);
  const { app, loaded } = await prepareServer({ ...options, config });

  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      signal?.removeEventListener("abort", onAbort);
      app.log.info("closing");
      const cut = setTimeout(() => app.server.closeAllConnections(), graceOf(config));
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    })();
    return closed;
  };
  const onSignal = () => void close();
  const onAbort = () => void close();

  try {
    signal?.throwIfAborted();
    const url = await app.listen({ ...at, listenTextResolver: (address) => `listening on ${address}` });
    for (const name of SIGNALS) process.on(name, onSignal);
    signal?.addEventListener("abort", onAbort, { once: true });
    const { auth } = config;
    app.log.info({ url, auth: auth ? auth.map(({ type }) => type) : "none: this machine only" }, "serving");
    loaded.catch(() => {
      process.exitCode = 2;
      return close();
    });
    return { url, close };
  } catch (error) {
    await app.close();
    throw error;
  }
}
