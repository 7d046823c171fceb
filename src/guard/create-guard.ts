import { z } from "zod";
import { buildScanners, type ConfigInput, checkConfig, loadConfig } from "../config/index.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { serviceOptions } from "../config/service-options.ts";
import { Engine } from "../models/engine.ts";
import type { Scanner } from "../scan/scanner.ts";
import { ScanService } from "../service/service.ts";
import type { ScannerLists, ScanServiceOptions } from "../service/service-types.ts";
import { GuardValidationError } from "../support/errors.ts";
import { parseOptions } from "../support/options.ts";
import type { Guard } from "./guard.ts";
import { refuseOwnVaults } from "./own-vaults.ts";
import { ServiceGuard } from "./service-guard.ts";

/** A guard of lists of scanners. What is left out has the default of `scanners.yml`, but models are loaded lazily. */
export interface ListedGuardOptions extends Partial<Omit<ScanServiceOptions, "conversation">> {
  /** The scanners of requests and of other texts that go to a model. */
  input?: readonly Scanner[];
  /** The scanners of answers. */
  output?: readonly Scanner[];
  /** How conversations are scanned, as the section `conversation` of `scanners.yml` says it. */
  conversation?: ConfigInput["conversation"];
  config?: undefined;
}

/** A guard of a configuration. Of the section `app` it takes what concerns scanning, and it ignores what only a server needs. */
export interface ConfiguredGuardOptions {
  /** The path of a `scanners.yml`, or what such a file says, with names in camelCase. */
  config: string | ConfigInput;
}

/** What {@link createGuard} makes a guard of: lists of scanners, or a configuration. */
export type GuardOptions = ListedGuardOptions | ConfiguredGuardOptions;

/** The settings of a configuration that concern scanning, by the names that they have in a program. */
const { shape: app } = configSchema.shape.app.unwrap();

const scanners = z.custom<readonly Scanner[]>(Array.isArray, "expected an array of scanners");

/** Milliseconds. */
const duration = z.number().positive().max(3_600_000);

const listed = z.strictObject({
  input: scanners.default([]),
  output: scanners.default([]),
  promptTimeout: duration.default(30_000),
  outputTimeout: duration.default(30_000),
  maxScans: app.queueSize,
  // A program decides itself how much it asks at a time.
  maxQueueTime: z.number().positive().default(Number.POSITIVE_INFINITY),
  maxMessages: app.maxMessages,
  lazyLoad: z.boolean().default(true),
  failFast: app.scanFailFast,
  onScannerError: z.enum(["throw", "block"]).default("throw"),
  requireFullCoverage: app.requireFullCoverage,
  masking: app.masking,
  stream: configSchema.shape.stream,
  conversation: configSchema.shape.conversation,
});

const configured = z.strictObject({
  config: z.custom<string | ConfigInput>(
    (value) => (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null),
    "expected the path of a scanners.yml, or a configuration",
  ),
});

/**
 * Makes a guard whose scanners run in this process.
 *
 * With lists of scanners, models are loaded by the first call that needs them, unless `lazyLoad` is false. With a configuration,
 * `app.lazy_load` decides; its default is that all models are loaded before the promise resolves. Closing the guard closes its
 * scanners.
 *
 * @throws GuardValidationError with the paths of the values at fault, and GuardError `GUARD_SCANNER` when a scanner cannot be loaded.
 */
export async function createGuard(options: GuardOptions): Promise<Guard> {
  if (options?.config !== undefined) {
    const { config } = parseOptions(configured, options);
    return ofConfig(typeof config === "string" ? await loadConfig(config) : checkConfig(config));
  }
  const { input, output, ...settings } = parseOptions(listed, options);
  if (input.length + output.length === 0) {
    throw new GuardValidationError([{ path: "input", message: "no scanners at all: every text would pass" }]);
  }
  const lists = { input, output };
  const service = withOwnPaths(() => {
    const service = new ScanService(lists, settings);
    refuseOwnVaults(lists, "");
    return service;
  });
  return loaded(service);
}

async function ofConfig(config: Config): Promise<Guard> {
  const { queueSize, maxWindows, lazyLoad } = config.app;
  // With lazyLoad a call loads a model, and a call must not wait for a download.
  const engine = Engine.fromEnvironment(process.env, { queueCapacity: queueSize, maxWindows, downloads: !lazyLoad });
  try {
    const lists: ScannerLists = buildScanners(config, { engine });
    if (lists.input.length + lists.output.length === 0) {
      throw new GuardValidationError([{ path: "inputScanners", message: "no scanners at all: every text would pass" }]);
    }
    return await loaded(new ScanService(lists, serviceOptions(config, engine)), () => engine.close());
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function loaded(service: ScanService, onClosed?: () => Promise<void>): Promise<Guard> {
  try {
    await service.load();
  } catch (error) {
    await service.close();
    throw error;
  }
  return new ServiceGuard(service, onClosed ? { onClosed } : {});
}

/** The service names the places of a configuration. Those of the options are shorter: `scanners.input.0` is `input.0`. */
function withOwnPaths<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    const issues = error.issues.map(({ path, message }) => ({
      path: path.replace(/^(?:scanners|app)\./, ""),
      message,
    }));
    throw new GuardValidationError(issues, { cause: error });
  }
}
