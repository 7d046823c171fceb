import { isDeepStrictEqual } from "node:util";
import { type Config, type ConfigInput, checkConfig } from "../../config/index.ts";
import { closedError, GuardError, GuardValidationError } from "../../support/errors.ts";
import { SingleFlight } from "../../support/single-flight.ts";
import { hashOf } from "../decisions/audit.ts";
import type { Generation, Generations } from "./generations.ts";
import type { ServerMetrics } from "./server-metrics.ts";

/** What a reload needs. */
export interface ReloadOptions {
  generations: Generations;
  metrics: ServerMetrics;
  /** Reads the configuration. */
  read(): Promise<ConfigInput>;
  /**
   * Makes a server of it, with its models loaded and tested.
   *
   * @throws GuardError when that cannot be done. Nothing is left of it then.
   */
  make(config: Config): Promise<Generation>;
  /**
   * Is asked before what was made is served.
   *
   * @param hash of its configuration.
   * @throws GuardError when it must not be served. Nothing is changed then.
   */
  agree?(hash: string): Promise<void>;
  /** The settings that have no effect before a restart, as the file names them, with what they are in a configuration. */
  fixed: Readonly<Record<string, (config: Config) => unknown>>;
}

/**
 * Puts another configuration in the place of the one that is served. Its server is made beside the one that answers, with its models
 * loaded and tested, and only then gets the requests. A configuration that cannot be used changes nothing.
 */
export class Reloads {
  readonly #options: ReloadOptions;
  /** The configuration of the start, from which what cannot be reloaded comes. */
  readonly #first: Config;
  readonly #latest = new SingleFlight(() => this.#reload());
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
   * Reloads the configuration. What is asked for during a reload is done behind it, once for all who ask: the file may have changed since
   * it was read.
   *
   * @returns the hash of the configuration that is served now.
   * @throws GuardValidationError with the paths of the values at fault; GuardError `GUARD_STARTING` before the first configuration is
   *   loaded, `GUARD_CLOSED` when the server closes, and others when a model cannot be loaded.
   */
  reload(): Promise<string> {
    return this.#latest.run();
  }

  async #reload(): Promise<string> {
    const { generations, metrics, read, make, agree } = this.#options;
    const start = performance.now();
    try {
      this.#refuse();
      const config = checkConfig(await read());
      const next = await make(config);
      const hash = hashOf(config);
      try {
        await agree?.(hash);
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
      for (const [name, settingOf] of Object.entries(this.#options.fixed)) {
        if (!isDeepStrictEqual(settingOf(this.#first), settingOf(config))) {
          next.app.log.warn(`${name}: the change has no effect before a restart`);
        }
      }
      return hash;
    } catch (error) {
      metrics.countReload("failure");
      const why =
        error instanceof GuardValidationError
          ? { issues: error.issues }
          : { err: error, ...(error instanceof GuardError ? { reason: error.message } : {}) };
      generations.current.app.log.error(why, "the configuration could not be reloaded: the one before is still served");
      throw error;
    }
  }

  #refuse(): void {
    if (this.#options.generations.isClosing) throw closedError();
    if (!this.#isLoaded) {
      throw new GuardError("GUARD_STARTING", "The service is starting: its models are being loaded.");
    }
  }
}
