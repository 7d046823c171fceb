import { createSecretKey, type KeyObject } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { readExceptionsKey } from "../config/exception-key.ts";
import { type Config, type ConfigInput, checkConfig, pluginsOf } from "../config/index.ts";
import { assertSafeToListen, isLoopback } from "../config/safe-address.ts";
import { shareOf } from "../config/workers.ts";
import type { LogStream } from "../http-server/log.ts";
import { type ConfigSource, startLogLines } from "../http-server/start-log.ts";
import type { Engine } from "../models/engine.ts";
import { onModelNotice } from "../models/notices.ts";
import type { ScannerLists } from "../scan/scanner.ts";
import type { Admission } from "../service/admission/admission.ts";
import { createEngine, serviceOptions } from "../service/create-service.ts";
import { admissionOf } from "../service/service.ts";
import { thisMachine } from "../support/machine.ts";
import { readSecretKeys } from "../support/secret-keys.ts";
import { buildApp } from "./app.ts";
import type { CacheOptions } from "./cache/create-cache.ts";
import { type CreatedProfile, createProfiles } from "./callers/create-profiles.ts";
import { type Profile, Profiles } from "./callers/profiles.ts";
import type { RunTimeExceptions } from "./exceptions/run-time-exceptions.ts";
import { ProcessState, type ServerContext, type SharedState } from "./process/process-state.ts";
import { startWarnings } from "./process/start-warnings.ts";
import { createShadow } from "./shadow/create-shadow.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { readVaultKeys, VaultSeal } from "./vault/vault-seal.ts";

/** The environment variable with the key of the cache. */
const CACHE_KEY = "GUARD_CACHE_KEY";

export interface ServerOptions {
  /** The configuration of `scanners.yml`, with names in camelCase. */
  config: ConfigInput;
  /**
   * Scanners that replace those of the configuration on the same side. The server closes them when it closes. A scanner with a vault of
   * its own is not allowed, because all callers would share it.
   */
  scanners?: Partial<ScannerLists>;
  /** The destination of log lines. Default: standard output. */
  logger?: LogStream;
  /** Where the configuration comes from, for the log. */
  source?: ConfigSource;
}

/** A server that does not listen yet. */
export interface PreparedServer {
  app: FastifyInstance;
  /** Settles when the models are loaded, or loading has failed. Loading starts with `app.ready()`. */
  loaded: Promise<void>;
  profiles: Profiles;
  shadow: Shadow | undefined;
  exceptions: RunTimeExceptions;
  /** Compiles the schemas of scan requests. Otherwise the first request of each route waits for them. */
  compileSchemas(): Promise<void>;
}

/**
 * Creates the HTTP API of a configuration. It does not listen yet. `ready()`, which `listen()` and `inject()` call, starts to load the
 * models, and `GET /readyz` reports when they are loaded. Without `auth` it listens on loopback addresses only.
 *
 * The environment variable `GUARD_VAULT_KEY` has the keys of vaults: one or several separated by commas, 32 bytes each in base64 or
 * hexadecimal; the first one seals, all of them open. `GUARD_CACHE_KEY` is such a key; servers with the same one share the results that
 * they cache in Redis.
 *
 * @param from the configuration, or options with a `config`.
 * @throws GuardValidationError with the paths of the invalid values.
 */
export async function createServer(from: ConfigInput | ServerOptions): Promise<FastifyInstance> {
  const options = isServerOptions(from) ? from : { config: from };
  const { app } = await prepareServer(options);
  return listeningSafely(app, checkConfig(options.config));
}

/** Creates a server and its scanners. The caller must check the address with {@link assertSafeToListen} before it listens. */
export async function prepareServer(
  { config: input, scanners, logger = process.stdout, source }: ServerOptions,
  context: ServerContext = { state: new ProcessState() },
): Promise<PreparedServer> {
  const config = checkConfig(input);
  const { size: workers = 1, isLeader = true } = context.pool ?? {};
  const { shared } = context.state;
  const engine = createEngine(config, shareOf(config.app.queueSize, workers));
  const cacheSecret = readCacheSecret(config, shared);
  const admission = createAdmission(config, workers);
  const { rememberedPins } = shared;
  const hashKey = readExceptionsKey(process.env);
  const exceptionsKey = hashKey ?? shared.exceptionsKey;
  const created = createProfiles(config, { engine, admission, scanners, cacheSecret, rememberedPins, exceptionsKey });
  const profiles = new Profiles(created.map(({ profile }) => profile) as [Profile, ...Profile[]]);
  const shadow = await createShadow(config, engine, admission, exceptionsKey);
  const isPublic = context.isPublic ?? !isLoopback(config.app.host);
  const warnings = startWarnings(config, listsOf(created), isPublic);
  const { app, exceptions, compileSchemas } = await buildApp(config, {
    ...{ profiles, engine, shadow, context, source, warnings, stream: logger },
    seal: createVaultSeal(config, shared),
    cacheOptions: cacheOptions(config, cacheSecret, created),
    exceptionsKey: { key: exceptionsKey, hasKey: hashKey !== undefined },
  });
  for (const { service } of profiles.all) {
    service.onFailedSelfTest((error) =>
      app.log.error(
        { err: error, reason: (error as Error)?.message },
        "a self-test failed: no scans until a restart or a reload",
      ),
    );
  }
  if (isLeader) logStart(app, { config, created, engine, source, warnings });
  const stopNotices = onModelNotice(({ kind, message }) => app.log[kind === "license" ? "warn" : "info"](message));
  app.addHook("onClose", async () => {
    stopNotices();
    await engine.close();
  });
  const loaded = loadWhenReady(app, profiles, context.isReload ? "error" : "fatal");
  if (shadow) loadShadow(loaded, shadow, app);
  return { app, loaded, profiles, shadow, exceptions, compileSchemas };
}

function createVaultSeal({ app }: Config, { vaultKey }: SharedState): VaultSeal {
  // A client sends the vault back in one body with its texts.
  const half = Math.floor(app.maxBodySize / 2);
  return new VaultSeal(readVaultKeys() ?? [vaultKey], {
    lifetimeMs: app.vaultExpiry * 1000,
    ...(app.vaultMaxSize <= half
      ? { maxLength: app.vaultMaxSize, limitedBy: "app.vault_max_size" }
      : { maxLength: half, limitedBy: "half of app.max_body_size" }),
  });
}

function readCacheSecret({ cache }: Config, { cacheKey }: SharedState): KeyObject | undefined {
  if (!cache?.enabled) return undefined;
  return createSecretKey(readSecretKeys(CACHE_KEY, process.env, 1)?.[0] ?? cacheKey);
}

/** Each of several processes admits its share of the scans. */
function createAdmission(config: Config, workers: number): Admission {
  const { processors } = thisMachine;
  return admissionOf(
    { ...serviceOptions(config), maxScans: shareOf(config.app.queueSize, workers) },
    workers === 1 ? thisMachine : { ...thisMachine, processors: shareOf(processors, workers) },
  );
}

function cacheOptions(
  { cache }: Config,
  secret: KeyObject | undefined,
  created: readonly CreatedProfile[],
): CacheOptions | undefined {
  if (!cache || !secret) return undefined;
  return {
    ...{ settings: cache, secret },
    fingerprint: () => created.map(({ fingerprint }) => fingerprint()).join(" "),
    verdicts: created.flatMap(({ verdicts }) => verdicts ?? []),
  };
}

interface StartFacts {
  config: Config;
  created: readonly CreatedProfile[];
  engine: Engine;
  source: ConfigSource | undefined;
  warnings: readonly string[];
}

/** Returns the scanners of all profiles. */
function listsOf(created: readonly CreatedProfile[]): ScannerLists {
  return {
    input: created.flatMap(({ profile }) => profile.service.lists.input),
    output: created.flatMap(({ profile }) => profile.service.lists.output),
  };
}

/** Logs plugins, scanners, models and warnings. */
function logStart(app: FastifyInstance, { config, created, engine, source, warnings }: StartFacts): void {
  for (const { path, kind, reference, file } of pluginsOf(config)) {
    app.log.info({ path, kind, reference, file }, "plugin");
  }
  const services = new Map(created.map(({ profile: { name, service } }) => [name, service]));
  for (const [fields, message] of startLogLines(source, services, engine)) app.log.info(fields, message);
  for (const warning of warnings) app.log.warn(warning);
}

/** Loads the models when the server is ready, and logs the result. */
function loadWhenReady(app: FastifyInstance, profiles: Profiles, level: "error" | "fatal"): Promise<void> {
  let settle: (loading: Promise<void>) => void = () => {};
  const loaded = new Promise<void>((resolve) => {
    settle = resolve as (loading: Promise<void>) => void;
  });
  app.addHook("onReady", async () => {
    const start = performance.now();
    settle(profiles.load());
    loaded.then(
      () => {
        if (!profiles.notReady) app.log.info({ ms: Math.round(performance.now() - start) }, "ready");
      },
      // The whole message may be logged: no request was accepted yet whose text could be in it.
      (error) => app.log[level]({ err: error, reason: error.message }, "a scanner could not be loaded"),
    );
  });
  return loaded;
}

/** Loads the models of the shadow after those of the server, which does not wait for it. */
function loadShadow(loaded: Promise<void>, shadow: Shadow, app: FastifyInstance): void {
  loaded
    .then(() => shadow.load())
    .then(
      () => app.log.info("the shadow is ready"),
      (error) => app.log.error({ reason: (error as Error)?.message }, "the shadow does not run"),
    );
}

/** Makes `listen()` refuse the addresses that {@link assertSafeToListen} refuses. */
function listeningSafely(app: FastifyInstance, config: Config): FastifyInstance {
  const listen = app.listen.bind(app) as (...args: unknown[]) => unknown;
  app.listen = ((...args: unknown[]) => {
    const [at] = args as [{ host?: string; path?: string } | undefined];
    // The file system protects a Unix socket (`path`). The default host of Fastify is localhost.
    try {
      if (!at?.path) assertSafeToListen(config, at?.host ?? "localhost");
    } catch (error) {
      return Promise.reject(error);
    }
    return listen(...args);
  }) as FastifyInstance["listen"];
  return app;
}

function isServerOptions(from: ConfigInput | ServerOptions): from is ServerOptions {
  return "config" in from;
}
