import { checkConfig } from "../config/index.ts";
import { assertSafeToListen } from "../config/safe-address.ts";
import { graceOf } from "./app.ts";
import { prepareServer, type ServerOptions } from "./create-server.ts";
import { listenUntilClosed, type RunningServer } from "./running-server.ts";

/** Where and how a server listens. */
export interface ListenOptions extends ServerOptions {
  /** Address to listen on. Default: `app.host` of the configuration. */
  host?: string;
  /** Default: `app.port` of the configuration; 0 takes a free one. */
  port?: number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
}

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

  return listenUntilClosed(app, at, {
    graceMs: graceOf(config),
    ...(signal ? { signal } : {}),
    onListening(url, close) {
      const { auth } = config;
      app.log.info({ url, auth: auth ? auth.map(({ type }) => type) : "none: this machine only" }, "serving");
      loaded.catch(() => {
        process.exitCode = 2;
        return close();
      });
    },
  });
}
