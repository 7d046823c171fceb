import { isIPv4, isIPv6 } from "node:net";
import type { FastifyInstance } from "fastify";
import { buildScanners, type Config, type ConfigInput, checkConfig, type ScannerLists } from "../config/index.ts";
import { GuardValidationError } from "../errors.ts";
import { setQueueCapacity } from "../models/engine-settings.ts";
import { onModelNotice } from "../models/hub/hub.ts";
import { withoutDownloads } from "../models/model.ts";
import { buildApp, graceOf } from "./app.ts";
import type { LogStream } from "./log.ts";
import { ScanService } from "./scan-service.ts";
import { randomVaultKey, readVaultKeys, VaultSeal } from "./vault-seal.ts";

export type { ScannerLists } from "../config/index.ts";
export type { LogStream } from "./log.ts";

/** What a server is made of. */
export interface ServerOptions {
  config: ConfigInput;
  /**
   * Scanners that take the place of those in the configuration; a side that is not given has the configuration's. The server
   * closes them when it closes. None of them may have a vault of its own: all callers would share it.
   */
  scanners?: Partial<ScannerLists>;
  /** Where log lines go. Default: standard output. */
  logger?: LogStream;
}

/**
 * Makes the HTTP API of a configuration. It does not listen yet: models are loaded from `ready()` on, which `listen()` and
 * `inject()` call, and `GET /readyz` tells when they are. Without `auth` it listens on loopback addresses only.
 *
 * The keys that vaults are sealed with are read from the environment, `GUARD_VAULT_KEY`: one or several with commas between, 32
 * bytes each in base64 or hexadecimal; the first one seals, all of them open.
 *
 * @throws GuardValidationError with the paths of the values at fault.
 */
export async function createServer(from: ConfigInput | ServerOptions): Promise<FastifyInstance> {
  const options = isServerOptions(from) ? from : { config: from };
  const { app } = await prepare(options);
  return listeningSafely(app, checkConfig(options.config));
}

/** Where and how a server listens. */
export interface ListenOptions extends ServerOptions {
  /** Default: `app.host` of the configuration. */
  host?: string;
  /** Default: `app.port` of the configuration; 0 takes a free one. */
  port?: number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
}

/** A server that listens. */
export interface RunningServer {
  url: string;
  /** Refuses new requests, lets those under way finish, and frees the models. */
  close(): Promise<void>;
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
  const { app, loaded } = await prepare({ ...options, config });

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

/** Has `listen()` refuse what {@link assertSafeToListen} refuses. */
function listeningSafely(app: FastifyInstance, config: Config): FastifyInstance {
  const listen = app.listen.bind(app) as (...args: unknown[]) => unknown;
  app.listen = ((...args: unknown[]) => {
    const [at] = args as [{ host?: string; path?: string } | undefined];
    // A Unix socket is guarded by the file system; without a host Fastify takes localhost.
    try {
      if (!at?.path) assertSafeToListen(config, at?.host ?? "localhost");
    } catch (error) {
      return Promise.reject(error);
    }
    return listen(...args);
  }) as FastifyInstance["listen"];
  return app;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Refuses to serve others than this machine where no credential is configured.
 *
 * @throws GuardValidationError with the path `auth`.
 */
export function assertSafeToListen(config: Pick<Config, "auth">, host: string): void {
  if ((config.auth?.length ?? 0) > 0 || isLoopback(host)) return;
  const message = `listening on ${host} needs a credential; without one only a loopback address such as 127.0.0.1 is served`;
  throw new GuardValidationError([{ path: "auth", message }]);
}

function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith("127.");
  return isIPv6(host) ? host === "::1" : host.toLowerCase() === "localhost";
}

async function prepare({ config: input, scanners, logger = process.stdout }: ServerOptions) {
  const config = checkConfig(input);
  const build = () =>
    buildScanners({
      ...config,
      ...(scanners?.input ? { inputScanners: [] } : {}),
      ...(scanners?.output ? { outputScanners: [] } : {}),
    });
  // A request must not wait for a download.
  const built = config.app.lazyLoad ? withoutDownloads(build) : build();
  const lists = { input: scanners?.input ?? built.input, output: scanners?.output ?? built.output };
  refuseOwnVaults(lists);
  const keys = readVaultKeys();
  const { vaultExpiry, vaultMaxSize, maxBodySize } = config.app;
  const seal = new VaultSeal(keys ?? [randomVaultKey()], {
    expiresInSeconds: vaultExpiry,
    // It comes back beside the texts.
    maxLength: Math.min(vaultMaxSize, Math.floor(maxBodySize / 2)),
  });
  setQueueCapacity(config.app.queueSize);
  const service = new ScanService(config, lists);
  const app = await buildApp(config, service, seal, logger);
  for (const warning of warnings(config, lists, keys !== undefined)) app.log.warn(warning);

  const stopNotices = onModelNotice(({ kind, message }) => app.log[kind === "license" ? "warn" : "info"](message));
  app.addHook("onClose", async () => stopNotices());

  let settle: (loading: Promise<void>) => void = () => {};
  const loaded = new Promise<void>((resolve) => {
    settle = resolve as (loading: Promise<void>) => void;
  });
  app.addHook("onReady", async () => {
    const start = performance.now();
    settle(service.load());
    loaded.then(
      () => {
        if (!service.notReady) app.log.info({ ms: Math.round(performance.now() - start) }, "ready");
      },
      // Nothing of any request can be in this message yet.
      (error) => app.log.fatal({ err: error, reason: error.message }, "a scanner could not be loaded"),
    );
  });
  return { app, loaded };
}

/** A vault that outlives a call would show one caller's values to the next. */
function refuseOwnVaults(lists: ScannerLists): void {
  const issues = Object.entries(lists).flatMap(([side, scanners]) =>
    scanners.flatMap(({ name, vaultScope }, index) =>
      vaultScope === "own"
        ? [
            {
              path: `scanners.${side}.${index}`,
              message: `${name} has a vault of its own, which all callers would share`,
            },
          ]
        : [],
    ),
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** What a configuration asks for that has no effect, and what it lets through. */
function warnings(config: Config, { input, output }: ScannerLists, vaultKeySet: boolean): string[] {
  return [
    ...(config.tracing.exporter === "console"
      ? ["tracing.exporter: console has no effect; requests are in the log"]
      : []),
    ...(config.metrics.exporter === "console"
      ? ["metrics.exporter: console has no effect; GET /metrics is there with prometheus"]
      : []),
    ...(config.cache ? ["cache: not enabled; results are not cached"] : []),
    ...(input.length === 0 ? ["no input scanners: every prompt passes"] : []),
    ...(output.length === 0 ? ["no output scanners: every output passes"] : []),
    ...(!vaultKeySet && [...input, ...output].some(({ vaultScope }) => vaultScope === "call")
      ? [
          "GUARD_VAULT_KEY: not set; no other instance can open the vaults of this one, nor can this one after a restart",
        ]
      : []),
    ...(config.app.logContent ? ["app.log_content: prompts and outputs are written to the log"] : []),
  ];
}

function isServerOptions(from: ConfigInput | ServerOptions): from is ServerOptions {
  return "config" in from;
}
