import { isDeepStrictEqual } from "node:util";
import { type Config, type ConfigInput, checkConfig } from "../../config/index.ts";
import { closedError, GuardError, GuardValidationError } from "../../support/errors.ts";
import { hashOf } from "../decisions/audit.ts";
import { CoalescedTask } from "./coalesced-task.ts";
import type { Generation, Generations } from "./generations.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export interface ReloadOptions {
  generations: Generations;
  metrics: ServerMetrics;
  readConfig(): Promise<ConfigInput>;
  /**
   * Creates a server with its models loaded and tested.
   *
   * @throws GuardError if that fails. Nothing of the server is left then.
   */
  createGeneration(config: Config): Promise<Generation>;
  /**
   * Called when a configuration is loaded, before it serves requests.
   *
   * @param hash of the configuration.
   * @throws GuardError if it must not be served. The reload changes nothing then.
   */
  approve?(hash: string): Promise<void>;
  /** The settings that need a restart: their names in the file, and functions that read them. */
  fixedSettings: Readonly<Record<string, (config: Config) => unknown>>;
}

/**
 * Replaces the configuration in use. The new server is created beside the old one, with its models loaded and tested, and only then gets
 * requests. A configuration that fails changes nothing.
 */
export class Reloads {
  readonly #options: ReloadOptions;
  /** The configuration of the start, whose fixed settings stay in effect. */
  readonly #first: Config;
  readonly #task = new CoalescedTask(() => this.#reload());
  #isLoaded = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
    const { current } = options.generations;
    this.#first = current.config;
    options.metrics.showConfig(hashOf(current.config));
    current.loaded.then(
      () => {
        this.#isLoaded = true;
      },
      () => {},
    );
  }

  /**
   * Reloads the configuration. Calls during a reload share one further reload, because the file may have changed since it was read.
   *
   * @returns the hash of the new configuration.
   * @throws GuardValidationError with the paths of the invalid values; GuardError `GUARD_STARTING` before the first configuration is
   *   loaded, `GUARD_CLOSED` while the server closes, and others if a model cannot be loaded.
   */
  reload(): Promise<string> {
    return this.#task.run();
  }

  async #reload(): Promise<string> {
    const { generations, metrics, readConfig, createGeneration, approve } = this.#options;
    const start = performance.now();
    try {
      this.#assertLoaded();
      const config = checkConfig(await readConfig());
      const next = await createGeneration(config);
      const hash = hashOf(config);
      try {
        await approve?.(hash);
        if (generations.isClosing) throw closedError();
      } catch (error) {
        await next.app.close();
        throw error;
      }
      generations.replace(next);
      metrics.countReload("success");
      metrics.showConfig(hash);
      const ms = Math.round(performance.now() - start);
      next.app.log.info({ config: hash, ms }, "the configuration was reloaded");
      for (const [name, settingOf] of Object.entries(this.#options.fixedSettings)) {
        if (!isDeepStrictEqual(settingOf(this.#first), settingOf(config))) {
          next.app.log.warn(`${name}: the change takes effect after a restart`);
        }
      }
      return hash;
    } catch (error) {
      metrics.countReload("failure");
      const fields =
        error instanceof GuardValidationError
          ? { issues: error.issues }
          : { err: error, ...(error instanceof GuardError ? { reason: error.message } : {}) };
      generations.current.app.log.error(fields, "the configuration could not be reloaded: the old one stays in use");
      throw error;
    }
  }

  #assertLoaded(): void {
    if (this.#options.generations.isClosing) throw closedError();
    if (!this.#isLoaded) {
      throw new GuardError("GUARD_STARTING", "The service is starting: its models are being loaded.");
    }
  }
}
