import { readExceptionsKey } from "../config/exception-key.ts";
import { assertHashKey, exceptionsOf } from "../config/exceptions.ts";
import { buildScanners, type Config } from "../config/index.ts";
import { Engine } from "../models/engine.ts";
import { Exceptions } from "../scan/exceptions/exceptions.ts";
import type { ScannerLists } from "../scan/scanner.ts";
import type { VerdictCache } from "../scan/verdict-cache.ts";
import type { ScannerEnvironment } from "../scanners/definition.ts";
import type { Admission } from "./admission/admission.ts";
import { ScanService } from "./service.ts";
import type { ScanServiceOptions } from "./service-types.ts";
import { assertNoOwnVaults } from "./vault-check.ts";

/** The dependencies and overrides of {@link createService}. */
export interface CreateServiceOptions {
  /** The engine of the models. By default the service creates its own engine, and closes it. */
  engine?: Engine;
  /** Scanners that replace those of the same side of the configuration. */
  scanners?: Partial<ScannerLists> | undefined;
  /** The environment of the scanners, without the engine. */
  environment?: Omit<ScannerEnvironment, "engine">;
  /** The paths of the lists in the file, for errors. */
  paths?: Parameters<typeof buildScanners>[2];
  /** Settings that replace those of the configuration. */
  settings?: Partial<ScanServiceOptions>;
  /** Whether the service tests the models of its engine. Default: true. */
  selfTest?: boolean;
  /** Creates the cache of verdicts. */
  createVerdictCache?: (lists: ScannerLists) => VerdictCache;
  /** The admission control. Services that share a machine share one. */
  admission?: Admission;
  /** The key of the hashes of exact texts. Default: that of the environment. */
  exceptionsKey?: Uint8Array | undefined;
}

/**
 * Creates the service of a configuration: engine, scanners, limits and admission control. The server, the proxy, MCP, `createGuard` and
 * the command line all scan with such a service. Nothing is loaded yet.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export function createService(config: Config, options: CreateServiceOptions = {}): ScanService {
  const engine = options.engine ?? createEngine(config);
  try {
    const lists = createLists(config, engine, options);
    const settings = {
      ...serviceOptions(config, options.selfTest === false ? undefined : engine),
      exceptions: createExceptions(config, options.paths, options.exceptionsKey),
      ...options.settings,
    };
    if (!options.engine) settings.onClose = () => engine.close();
    return new ScanService(lists, settings, options.createVerdictCache?.(lists), options.admission);
  } catch (error) {
    if (!options.engine) void engine.close();
    throw error;
  }
}

/**
 * Creates the exceptions of a configuration.
 *
 * @param paths of the lists of scanners in the file, for errors.
 * @param key the key of the hashes of exact texts. Default: that of the environment, or a random one.
 * @throws GuardValidationError with the path of every invalid pattern, and for hashes without a key.
 */
export function createExceptions(
  config: Config,
  paths?: Parameters<typeof exceptionsOf>[1],
  key?: Uint8Array | undefined,
): Exceptions {
  const fromEnvironment = readExceptionsKey(process.env);
  const configured = exceptionsOf(config, paths);
  const list = configured.map(({ exception }) => exception);
  assertHashKey(list, fromEnvironment);
  const exceptions = new Exceptions(key ?? fromEnvironment);
  exceptions.set("configuration", list, (index) => configured[index]?.path ?? "");
  return exceptions;
}

/** Creates the engine of a configuration. */
export function createEngine({ app }: Config, queueCapacity = app.queueSize): Engine {
  // With lazyLoad, a scan loads models, and it must not wait for a download.
  return Engine.fromEnvironment(process.env, { queueCapacity, maxWindows: app.maxWindows, downloads: !app.lazyLoad });
}

function createLists(
  config: Config,
  engine: Engine,
  { scanners, environment, paths }: CreateServiceOptions,
): ScannerLists {
  const replaced = {
    ...(scanners?.input ? { inputScanners: [] } : {}),
    ...(scanners?.output ? { outputScanners: [] } : {}),
  };
  const built = buildScanners({ ...config, ...replaced }, { engine, ...environment }, paths);
  const lists = { input: scanners?.input ?? built.input, output: scanners?.output ?? built.output };
  assertNoOwnVaults(lists, "scanners.");
  return lists;
}

/**
 * Returns the service options of a configuration.
 *
 * @param engine the engine whose self-tests the service runs.
 */
export function serviceOptions({ app, conversation, stream }: Config, engine?: Engine): ScanServiceOptions {
  return {
    promptTimeout: app.scanPromptTimeout * 1000,
    outputTimeout: app.scanOutputTimeout * 1000,
    maxScans: app.queueSize,
    maxQueueTime: app.maxQueueTime * 1000,
    maxMessages: app.maxMessages,
    lazyLoad: app.lazyLoad,
    selfTestInterval: app.selfTestInterval * 1000,
    ...(engine ? { selfTest: (signal: AbortSignal) => engine.selfTest(signal) } : {}),
    failFast: app.scanFailFast,
    onScannerError: app.onScannerError === "block" ? "block" : "throw",
    requireFullCoverage: app.requireFullCoverage,
    stateful: app.stateful,
    masking: app.masking,
    review: app.review,
    mode: app.mode,
    conversation,
    stream,
  };
}
