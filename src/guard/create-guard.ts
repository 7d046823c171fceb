import { z } from "zod";
import { type ConfigInput, checkConfig, loadConfig } from "../config/index.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { Exceptions } from "../scan/exceptions/exceptions.ts";
import type { Scanner } from "../scan/scanner.ts";
import { createService } from "../service/create-service.ts";
import { ScanService } from "../service/service.ts";
import type { ScanServiceOptions } from "../service/service-types.ts";
import { assertNoOwnVaults } from "../service/vault-check.ts";
import { GuardValidationError } from "../support/errors.ts";
import { parseOptions } from "../support/options.ts";
import type { Guard } from "./guard.ts";
import { LocalGuard } from "./local-guard.ts";

/** Options of a guard with lists of scanners. The defaults are those of `scanners.yml`, except that models load lazily. */
export interface ScannerGuardOptions extends Partial<Omit<ScanServiceOptions, "conversation">> {
  /** The scanners of requests and of other texts for a model. */
  input?: readonly Scanner[];
  /** The scanners of answers. */
  output?: readonly Scanner[];
  /** The section `conversation` of `scanners.yml`. */
  conversation?: ConfigInput["conversation"];
  config?: undefined;
}

/** Options of a guard with a configuration. Settings that only a server needs are ignored. */
export interface ConfigGuardOptions {
  /** The path of a `scanners.yml`, or its content with names in camelCase. */
  config: string | ConfigInput;
}

/** The options of {@link createGuard}: lists of scanners, or a configuration. */
export type GuardOptions = ScannerGuardOptions | ConfigGuardOptions;

/** The schemas of the section `app`. */
const { shape: app } = configSchema.shape.app.unwrap();

const scanners = z.custom<readonly Scanner[]>(Array.isArray, "expected an array of scanners");

/** A duration in milliseconds. */
const duration = z.number().positive().max(3_600_000);

const scannerOptionsSchema = z.strictObject({
  input: scanners.default([]),
  output: scanners.default([]),
  promptTimeout: duration.default(30_000),
  outputTimeout: duration.default(30_000),
  maxScans: app.queueSize,
  // A program limits its concurrency itself.
  maxQueueTime: z.number().positive().default(Number.POSITIVE_INFINITY),
  maxMessages: app.maxMessages,
  lazyLoad: z.boolean().default(true),
  failFast: app.scanFailFast,
  onScannerError: z.enum(["throw", "block"]).default("throw"),
  requireFullCoverage: app.requireFullCoverage,
  stateful: app.stateful,
  masking: app.masking,
  review: app.review,
  exceptions: z.instanceof(Exceptions, { error: "expected Exceptions, such as Exceptions.of([...])" }).optional(),
  mode: app.mode,
  stream: configSchema.shape.stream,
  conversation: configSchema.shape.conversation,
});

const configOptionsSchema = z.strictObject({
  config: z.custom<string | ConfigInput>(
    (value) => (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null),
    "expected the path of a scanners.yml, or a configuration",
  ),
});

/**
 * Creates a guard whose scanners run in this process.
 *
 * With lists of scanners, the first call that needs a model loads it, unless `lazyLoad` is false. With a configuration, `app.lazy_load`
 * decides; by default all models are loaded before the promise resolves. Closing the guard closes its scanners.
 *
 * @throws GuardValidationError with the paths of the invalid values, and GuardError `GUARD_SCANNER` if a scanner cannot be loaded.
 */
export async function createGuard(options: GuardOptions): Promise<Guard> {
  if (options?.config !== undefined) {
    const { config } = parseOptions(configOptionsSchema, options);
    return createFromConfig(typeof config === "string" ? await loadConfig(config) : checkConfig(config));
  }
  const { input, output, ...settings } = parseOptions(scannerOptionsSchema, options);
  if (input.length + output.length === 0) {
    throw new GuardValidationError([
      { path: "input", message: "expected at least one scanner; without scanners, every text would pass" },
    ]);
  }
  const lists = { input, output };
  const service = withOptionPaths(() => {
    const service = new ScanService(lists, settings);
    assertNoOwnVaults(lists, "");
    return service;
  });
  return loadService(service);
}

async function createFromConfig(config: Config): Promise<Guard> {
  const service = createService(config);
  const { input, output } = service.lists;
  if (input.length + output.length === 0) {
    await service.close();
    throw new GuardValidationError([
      { path: "inputScanners", message: "expected at least one scanner; without scanners, every text would pass" },
    ]);
  }
  return loadService(service);
}

async function loadService(service: ScanService): Promise<Guard> {
  try {
    await service.load();
  } catch (error) {
    await service.close();
    throw error;
  }
  return new LocalGuard(service);
}

/** Maps paths of a configuration in validation errors to paths of the options: `scanners.input.0` to `input.0`. */
function withOptionPaths<Made>(make: () => Made): Made {
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
