import { type Config, type ConfigInput, checkConfig } from "../../config/index.ts";
import { assertSafeToListen, isLoopback } from "../../config/safe-address.ts";
import { listenUntilClosed, type RunningServer } from "../../http-server/listen-until-closed.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { graceOf } from "../app.ts";
import { prepareServer, type ServerOptions } from "../create-server.ts";
import { type Generation, Generations, listenerFor } from "./generations.ts";
import { type Host, type Inside, Lasting } from "./process-state.ts";
import { Reloads } from "./reloads.ts";
import type { ServerMetrics } from "./server-metrics.ts";
import { watchFile } from "./watch-file.ts";

/** Where and how a server listens. */
export interface ListenOptions extends ServerOptions {
  /** Address to listen on. Default: `app.host` of the configuration. */
  host?: string;
  /** Default: `app.port` of the configuration; 0 takes a free one. */
  port?: number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
  /**
   * Reads the configuration anew. With it, SIGHUP and `POST /admin/reload` put the configuration that it returns in the place of the
   * one that is served. It cannot be combined with `scanners`.
   */
  reread?: () => Promise<ConfigInput>;
  /** A file: when its content changes, the configuration is reread. */
  watch?: string;
}

/** A server that listens, and can be told to read its configuration anew. */
export interface ReloadingServer extends RunningServer {
  /** Settles when the models of the first configuration are loaded, or cannot be loaded. */
  loaded: Promise<void>;
  /**
   * Rereads the configuration, and serves it when its models are loaded. Requests under way are answered with the one before. What fails
   * changes nothing.
   *
   * @returns the hash of the configuration that is served now.
   * @throws GuardValidationError for a configuration that cannot be used, and where the server has no `reread`. GuardError when a model
   *   cannot be loaded, `GUARD_STARTING` before the first models are, and `GUARD_CLOSED` when the server closes.
   */
  reload(): Promise<string>;
}

/** How the files of an audit log are put aside: what writes them does so until the end. */
const FILES_OF_AUDIT = {
  "audit.max_size": ({ audit }: Config) => audit?.maxSize,
  "audit.keep": ({ audit }: Config) => audit?.keep,
};

/**
 * Starts the HTTP API as the program of this process: SIGTERM and SIGINT close it, and a model that cannot be loaded ends it
 * with exit code 2.
 *
 * @throws GuardValidationError for a bad configuration, or an address that is open to others without `auth`.
 */
export async function startServer(given: ListenOptions): Promise<ReloadingServer> {
  const { url, close, loaded, reload } = await start(given);
  return { url, close, loaded, reload };
}

/** A server in one of several processes. */
export interface ServerInside extends ReloadingServer {
  generations: Generations;
  metrics: ServerMetrics;
}

/** Starts the HTTP API as one of several processes that do. It reloads when it is told, not on signals. */
export function startInside(given: ListenOptions, inside: Inside): Promise<ServerInside> {
  return start(given, inside);
}

async function start(given: ListenOptions, inside?: Inside): Promise<ServerInside> {
  const { host, port, signal, reread, watch, ...options } = given;
  if (reread && options.scanners)
    throw invalid("reread", "cannot be combined with scanners: nobody would make them anew");
  if (watch !== undefined && !reread) throw invalid("watch", "needs reread");
  const config = checkConfig(options.config);
  const at = { host: host ?? config.app.host, port: port ?? config.app.port };
  const lasting = new Lasting(inside?.kept);

  const make = async (config: Config, isReload: boolean): Promise<Generation> => {
    assertSafeToListen(config, at.host);
    const server: Host = {
      lasting,
      isReload,
      together: inside?.together,
      isPublic: !isLoopback(at.host),
      ...(reread ? { reload: () => (inside ?? reloads).reload() } : {}),
    };
    const prepared = await prepareServer({ ...options, config }, server);
    try {
      await prepared.app.ready();
      if (isReload || inside?.isLate) await prepared.loaded;
    } catch (error) {
      await prepared.app.close();
      throw error;
    }
    return { ...prepared, config };
  };

  const generations = new Generations(await make(config, false));
  const reloads = new Reloads({
    generations,
    metrics: lasting.metrics,
    read: reread ?? (() => Promise.reject(invalid("reread", "is needed to reload the configuration"))),
    make: (config) => make(config, true),
    ...(inside ? { agree: (hash) => inside.agree(hash) } : {}),
    fixed: {
      ...(host === undefined ? { "app.host": ({ app }: Config) => app.host } : {}),
      ...(port === undefined ? { "app.port": ({ app }: Config) => app.port } : {}),
      "app.workers": ({ app }: Config) => app.workers,
      ...(config.audit?.to === "file" ? FILES_OF_AUDIT : {}),
    },
  });
  const { loaded } = generations.current;
  const listener = listenerFor(generations, options.logger ?? process.stdout);
  if (reread && !inside) reloadWhenTold(listener, reloads, watch);
  const { url, close } = await listenUntilClosed(listener, at, {
    graceMs: () => graceOf(generations.current.config),
    ...(signal ? { signal } : {}),
    ...(inside ? { onClosed: () => inside.onClosed() } : {}),
    onListening(url, close) {
      const { auth } = config;
      listener.log.info({ url, auth: auth ? auth.map(({ type }) => type) : "none: this machine only" }, "serving");
      loaded.catch(() => {
        process.exitCode = 2;
        return close();
      });
    },
  });
  return { url, close, loaded, reload: () => reloads.reload(), generations, metrics: lasting.metrics };
}

/** Reloads for as long as a server listens, when the process gets the signal for it or the file changes. */
function reloadWhenTold(listener: ReturnType<typeof listenerFor>, reloads: Reloads, watched: string | undefined): void {
  const reload = () => {
    // Why it failed is in the log.
    reloads.reload().catch(() => {});
  };
  listener.addHook("onListen", async () => {
    // On Windows this is the signal that the console was closed, which nobody can ignore.
    if (process.platform !== "win32") process.on("SIGHUP", reload);
    const unwatch = watched === undefined ? () => {} : watchFile(watched, reload);
    stop = () => {
      process.off("SIGHUP", reload);
      unwatch();
    };
  });
  let stop = () => {};
  listener.addHook("preClose", async () => stop());
}

function invalid(path: string, message: string): GuardValidationError {
  return new GuardValidationError([{ path, message }]);
}
