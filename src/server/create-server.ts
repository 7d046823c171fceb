import { createSecretKey, randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import {
  buildScanners,
  type Config,
  type ConfigInput,
  checkConfig,
  MAIN_PROFILE,
  type ProfileConfig,
  pluginsOf,
  profilesOf,
} from "../config/index.ts";
import { assertSafeToListen, isLoopback } from "../config/safe-address.ts";
import { serviceOptions } from "../config/service-options.ts";
import { shareOf } from "../config/workers.ts";
import { refuseOwnVaults } from "../guard/own-vaults.ts";
import type { LogStream } from "../http-server/log.ts";
import { type ConfigSource, startLines } from "../http-server/start-log.ts";
import { Engine } from "../models/engine.ts";
import { onModelNotice } from "../models/notices.ts";
import { restrictedModels } from "../models/training-data.ts";
import { VerdictCache } from "../scan/verdict-cache.ts";
import type { ScannerEnvironment } from "../scanners/definition.ts";
import { thisMachine } from "../service/admission/machine.ts";
import { admissionOf, ScanService } from "../service/service.ts";
import type { ScannerLists } from "../service/service-types.ts";
import { readSecretKeys } from "../support/secret-keys.ts";
import { buildApp } from "./app.ts";
import { fingerprintOf } from "./cache/fingerprint.ts";
import type { Caching } from "./cache/make-cache.ts";
import { RedisVerdicts } from "./cache/shared-verdicts.ts";
import { type Profile, Profiles } from "./callers/profiles.ts";
import { Variants } from "./callers/variants.ts";
import { type Host, Lasting } from "./process/process-state.ts";
import { startWarnings } from "./process/start-warnings.ts";
import { makeShadow } from "./shadow/make-shadow.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { readVaultKeys, VaultSeal } from "./vault/vault-seal.ts";

/** The environment variable with the key of the cache. */
const CACHE_KEY = "GUARD_CACHE_KEY";

/** What a server is made of. */
export interface ServerOptions {
  /** The configuration, as `scanners.yml` has it, with names in camelCase. A setting that is missing has its default. */
  config: ConfigInput;
  /**
   * Scanners that take the place of those in the configuration; a side that is not given has the configuration's. The server
   * closes them when it closes. None of them may have a vault of its own: all callers would share it.
   */
  scanners?: Partial<ScannerLists>;
  /** Where log lines go. Default: standard output. */
  logger?: LogStream;
  /** Where the configuration comes from, for the log. */
  source?: ConfigSource;
}

/** A server that does not listen yet. */
export interface PreparedServer {
  app: FastifyInstance;
  /** Settles when the models are loaded, or cannot be loaded. Loading begins with `app.ready()`. */
  loaded: Promise<void>;
  profiles: Profiles;
  shadow: Shadow | undefined;
}

/**
 * Makes the HTTP API of a configuration. It does not listen yet: models are loaded from `ready()` on, which `listen()` and
 * `inject()` call, and `GET /readyz` tells when they are. Without `auth` it listens on loopback addresses only.
 *
 * The keys that vaults are sealed with are read from the environment, `GUARD_VAULT_KEY`: one or several with commas between, 32
 * bytes each in base64 or hexadecimal; the first one seals, all of them open. `GUARD_CACHE_KEY` is one such key; servers with the
 * same one share the results that they cache in Redis.
 *
 * @param from the configuration, or options with a `config`.
 * @throws GuardValidationError with the paths of the values at fault.
 */
export async function createServer(from: ConfigInput | ServerOptions): Promise<FastifyInstance> {
  const options = isServerOptions(from) ? from : { config: from };
  const { app } = await prepareServer(options);
  return listeningSafely(app, checkConfig(options.config));
}

/** Makes a server and its scanners. Whoever has it listen must check the address: {@link assertSafeToListen}. */
export async function prepareServer(
  { config: input, scanners, logger = process.stdout, source }: ServerOptions,
  host: Host = { lasting: new Lasting() },
): Promise<PreparedServer> {
  const config = checkConfig(input);
  const { workers = 1, speaks = true } = host.together ?? {};
  const engine = Engine.fromEnvironment(process.env, {
    queueCapacity: shareOf(config.app.queueSize, workers),
    maxWindows: config.app.maxWindows,
    // With lazyLoad a request loads a model, and a request must not wait for a download.
    downloads: !config.app.lazyLoad,
  });
  const keys = readVaultKeys();
  const { vaultExpiry, vaultMaxSize, maxBodySize } = config.app;
  const seal = new VaultSeal(keys ?? [host.lasting.kept.vaultKey], {
    expiresInSeconds: vaultExpiry,
    // A client sends it back in one body with its texts.
    maxLength: Math.min(vaultMaxSize, Math.floor(maxBodySize / 2)),
  });
  const secretOf = (key: Buffer | undefined) => createSecretKey(key ?? host.lasting.kept.cacheKey);
  const cacheKey = config.cache?.enabled ? readSecretKeys(CACHE_KEY, process.env, 1)?.[0] : undefined;
  const secret = config.cache?.enabled ? secretOf(cacheKey) : undefined;
  // Nothing is known of scanners that a program made, so their results are shared with nobody.
  const ofProgram = scanners?.input || scanners?.output ? randomUUID() : "";
  // All profiles have one machine.
  const { processors } = thisMachine;
  const admission = admissionOf(
    { ...serviceOptions(config), maxScans: shareOf(config.app.queueSize, workers) },
    workers === 1 ? thisMachine : { ...thisMachine, processors: shareOf(processors, workers) },
  );
  const made = profilesOf(config).map((of) => {
    const rememberedPins = host.lasting.kept.rememberedPins?.(of.name);
    const environment = { engine, ...(rememberedPins ? { rememberedPins } : {}) };
    const lists = listsOf(of, of.name === MAIN_PROFILE ? scanners : undefined, environment);
    const fingerprint = () => fingerprintOf(of.config, engine) + ofProgram;
    const verdicts = secret && new RedisVerdicts(secret, lists.input, fingerprint);
    const service = new ScanService(
      lists,
      serviceOptions(of.config, engine),
      new VerdictCache({}, verdicts),
      admission,
    );
    const variants = of.config.app.allowThresholds ? new Variants(service, of.config, environment) : undefined;
    return { profile: { name: of.name, service, variants }, lists, fingerprint, verdicts };
  });
  const lists = allOf(made.map((one) => one.lists));
  const profiles = new Profiles(made.map(({ profile }) => profile) as [Profile, ...Profile[]]);
  const caching: Caching | undefined =
    config.cache?.enabled && secret
      ? {
          settings: config.cache,
          secret,
          fingerprint: () => made.map(({ fingerprint }) => fingerprint()).join(" "),
          verdicts: made.flatMap(({ verdicts }) => verdicts ?? []),
        }
      : undefined;
  const shadow = await makeShadow(config, engine, admission);
  const app = await buildApp(config, { profiles, seal, stream: logger, engine, caching, shadow, host });
  for (const { service } of profiles.all) {
    service.onFailedSelfTest((error) =>
      app.log.error(
        { err: error, reason: (error as Error)?.message },
        "a self-test failed: no scans until a restart or a reload",
      ),
    );
  }
  // What runs here besides guard is worth knowing when something goes wrong.
  if (speaks) {
    const byName = new Map(made.map((one) => [one.profile.name, one.lists]));
    for (const { path, kind, reference, file } of pluginsOf(config))
      app.log.info({ path, kind, reference, file }, "plugin");
    for (const [fields, message] of startLines(source, byName, engine)) app.log.info(fields, message);
  }
  const isPublic = host.isPublic ?? !isLoopback(config.app.host);
  if (speaks) for (const warning of startWarnings(config, lists, isPublic)) app.log.warn(warning);
  const models = restrictedModels(engine);
  if (speaks && models.length > 0) {
    app.log.warn(
      { models },
      "these models learnt in part from data whose licences do not allow commercial use; see docs/own-models.md",
    );
  }

  const stopNotices = onModelNotice(({ kind, message }) => app.log[kind === "license" ? "warn" : "info"](message));
  app.addHook("onClose", async () => {
    stopNotices();
    await engine.close();
  });
  const loaded = loadWhenReady(app, profiles, host.isReload ? "error" : "fatal");
  if (shadow) loadBehind(loaded, shadow, app);
  return { app, loaded, profiles, shadow };
}

/** The scanners of a profile, of which those of a program take the place of those of the main one. */
function listsOf(
  { config, paths }: ProfileConfig,
  given: Partial<ScannerLists> | undefined,
  environment: ScannerEnvironment,
): ScannerLists {
  const replaced = { ...(given?.input ? { inputScanners: [] } : {}), ...(given?.output ? { outputScanners: [] } : {}) };
  const built = buildScanners({ ...config, ...replaced }, environment, paths);
  const lists = { input: given?.input ?? built.input, output: given?.output ?? built.output };
  refuseOwnVaults(lists, "scanners.");
  return lists;
}

function allOf(lists: readonly ScannerLists[]): ScannerLists {
  return { input: lists.flatMap(({ input }) => input), output: lists.flatMap(({ output }) => output) };
}

/** Loads the models once the server is ready, and logs whether that succeeded. */
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
      // The reason is logged in full: no request was taken yet whose text could be in it.
      (error) => app.log[level]({ err: error, reason: error.message }, "a scanner could not be loaded"),
    );
  });
  return loaded;
}

/** Loads the models of the shadow when those of the server are there, which is ready without it. */
function loadBehind(loaded: Promise<void>, shadow: Shadow, app: FastifyInstance): void {
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
    // The file system guards a Unix socket (`path`). Without a host Fastify listens on localhost.
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
