import { type Config, type ConfigInput, checkConfig } from "../../config/index.ts";
import { assertSafeToListen, isLoopback } from "../../config/safe-address.ts";
import { assertCanListen, listenUntilClosed, type RunningServer } from "../../http-server/listen-until-closed.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { gracePeriodMs } from "../app.ts";
import { prepareServer, type ServerOptions } from "../create-server.ts";
import type { Traffic } from "../traffic/traffic.ts";
import { createListener, type Generation, Generations } from "./generations.ts";
import { ProcessState, type WorkerContext } from "./process-state.ts";
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
  /** Reads the configuration again, for SIGHUP and `POST /admin/reload`. It cannot be combined with `scanners`. */
  reread?: () => Promise<ConfigInput>;
  /** A file: a change of its content reloads the configuration. Requires `reread`. */
  watch?: string;
}

/** A server that listens, and can reload its configuration. */
export interface ReloadingServer extends RunningServer {
  /** Settles when the models of the first configuration are loaded, or loading has failed. */
  loaded: Promise<void>;
  /**
   * Reads the configuration again, and uses it when its models are loaded. Requests in progress finish with the old one. A failure changes
   * nothing.
   *
   * @returns the hash of the new configuration.
   * @throws GuardValidationError for an invalid configuration, or without `reread`. GuardError if a model cannot be loaded,
   *   `GUARD_STARTING` before the first models are loaded, and `GUARD_CLOSED` while the server closes.
   */
  reload(): Promise<string>;
}

/**
 * Starts the HTTP API as the program of this process: SIGTERM and SIGINT close it, and a model that cannot be loaded ends it
 * with exit code 2.
 *
 * @throws GuardValidationError for an invalid configuration, or an address that other machines reach without `auth`.
 */
export async function startServer(options: ListenOptions): Promise<ReloadingServer> {
  const { url, close, loaded, reload } = await start(options);
  return { url, close, loaded, reload };
}

/** A server of one of several processes. */
export interface WorkerServer extends ReloadingServer {
  generations: Generations;
  metrics: ServerMetrics;
  traffic: Traffic;
}

/** Starts the HTTP API in a worker. The supervisor reloads it, not a signal. */
export function startWorkerServer(options: ListenOptions, worker: WorkerContext): Promise<WorkerServer> {
  return start(options, worker);
}

async function start(listenOptions: ListenOptions, worker?: WorkerContext): Promise<WorkerServer> {
  const { host, port, signal, reread, watch, ...options } = listenOptions;
  if (reread && options.scanners)
    throw invalid("reread", "cannot be combined with scanners: a reload cannot create them");
  if (watch !== undefined && !reread) throw invalid("watch", "requires reread");
  const config = checkConfig(options.config);
  const at = { host: host ?? config.app.host, port: port ?? config.app.port };
  const state = new ProcessState(worker?.shared);
  const reload = reread && (() => (worker ?? reloads).reload());
  const createGeneration = (config: Config, isReload: boolean) =>
    prepareGeneration({ ...options, config }, { state, at, isReload, reload, worker });

  // A worker listens through its supervisor, which has tried before.
  if (!worker) {
    assertSafeToListen(config, at.host);
    await assertCanListen(at);
  }
  const generations = new Generations(await createGeneration(config, false));
  const reloads = new Reloads({
    generations,
    metrics: state.metrics,
    readConfig: reread ?? (() => Promise.reject(invalid("reread", "is required to reload the configuration"))),
    createGeneration: (config) => createGeneration(config, true),
    ...(worker ? { approve: (hash) => worker.approve(hash) } : {}),
    fixedSettings: fixedSettings(config, { host, port }),
  });
  const { loaded } = generations.current;
  const listener = createListener(generations, options.logger ?? process.stdout);
  if (reread && !worker) reloadOnChange(listener, reloads, watch);
  const { url, close } = await listenUntilClosed(listener, at, {
    graceMs: () => gracePeriodMs(generations.current.config),
    ...(signal ? { signal } : {}),
    ...(worker ? { onClosed: () => worker.onClosed() } : {}),
    onListening(url, close) {
      const { auth } = config;
      listener.log.info({ url, auth: auth ? auth.map(({ type }) => type) : "none: this machine only" }, "serving");
      loaded.catch(() => {
        process.exitCode = 2;
        return close();
      });
    },
  });
  return {
    url,
    close,
    loaded,
    reload: () => reloads.reload(),
    generations,
    metrics: state.metrics,
    traffic: state.traffic,
  };
}

interface GenerationContext {
  state: ProcessState;
  at: { host: string };
  isReload: boolean;
  reload: (() => Promise<string>) | undefined;
  worker: WorkerContext | undefined;
}

/** Creates a server. On a reload, and in a process that replaces another one, its models are loaded first. */
async function prepareGeneration(
  options: ServerOptions & { config: Config },
  { state, at, isReload, reload, worker }: GenerationContext,
): Promise<Generation> {
  const { config } = options;
  assertSafeToListen(config, at.host);
  const prepared = await prepareServer(options, {
    ...{ state, isReload, pool: worker?.pool, isPublic: !isLoopback(at.host) },
    ...(reload ? { reload } : {}),
  });
  try {
    await prepared.app.ready();
    if (isReload || worker?.isReplacement) await prepared.loaded;
    // A failure is logged when the models are loaded.
    prepared.loaded.then(prepared.compileSchemas, () => {});
  } catch (error) {
    await prepared.app.close();
    throw error;
  }
  return { ...prepared, config };
}

/** The audit log keeps its file open across reloads, with these settings. */
const AUDIT_FILE_SETTINGS = {
  "audit.max_size": ({ audit }: Config) => audit?.maxSize,
  "audit.keep": ({ audit }: Config) => audit?.keep,
};

/** Returns the settings that a reload does not change. */
function fixedSettings({ audit }: Config, { host, port }: { host: string | undefined; port: number | undefined }) {
  return {
    ...(host === undefined ? { "app.host": ({ app }: Config) => app.host } : {}),
    ...(port === undefined ? { "app.port": ({ app }: Config) => app.port } : {}),
    "app.workers": ({ app }: Config) => app.workers,
    ...(audit?.to === "file" ? AUDIT_FILE_SETTINGS : {}),
  };
}

/** Reloads on SIGHUP and on changes of the file, while the server listens. */
function reloadOnChange(
  listener: ReturnType<typeof createListener>,
  reloads: Reloads,
  watchedFile: string | undefined,
): void {
  const reload = () => {
    // A failure is logged by Reloads.
    reloads.reload().catch(() => {});
  };
  let stop = () => {};
  listener.addHook("onListen", async () => {
    // On Windows SIGHUP means that the console was closed, and the process ends.
    if (process.platform !== "win32") process.on("SIGHUP", reload);
    const unwatch = watchedFile === undefined ? () => {} : watchFile(watchedFile, reload);
    stop = () => {
      process.off("SIGHUP", reload);
      unwatch();
    };
  });
  listener.addHook("preClose", async () => stop());
}

function invalid(path: string, message: string): GuardValidationError {
  return new GuardValidationError([{ path, message }]);
}
