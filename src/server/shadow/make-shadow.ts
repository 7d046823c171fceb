import { buildScanners, type Config, loadConfig, profilesOf, shadowSettings } from "../../config/index.ts";
import { serviceOptions } from "../../config/service-options.ts";
import { refuseOwnVaults } from "../../guard/own-vaults.ts";
import type { Engine } from "../../models/engine.ts";
import { DEFAULT_MAX_WINDOWS } from "../../models/engine-options.ts";
import { VerdictCache } from "../../scan/verdict-cache.ts";
import { Admission } from "../../service/admission/admission.ts";
import { ScanService } from "../../service/service.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { Shadow } from "./shadow.ts";

/**
 * The server is idle when what it has let in takes less than this part of the longest wait, and busy when it takes longer than that one. An
 * admission counts in seconds of the whole machine, so that a few scans leave a large machine idle, and a small one not.
 */
const [IDLE, BUSY] = [0.01, 0.25];

/**
 * Makes the shadow of a configuration, if it has one. Nothing is loaded yet.
 *
 * @param engine the engine of the server: models that both configurations use are loaded once.
 * @param admission decides which scans of the server run. The shadow waits while any of them waits, or while they take long.
 * @throws GuardValidationError for a file that cannot be read or is wrong, at the path `shadow`.
 */
export async function makeShadow(
  { shadow, app }: Config,
  engine: Engine,
  admission: Pick<Admission, "waiting" | "expectedWait">,
): Promise<Shadow | undefined> {
  if (shadow === undefined) return undefined;
  const settings = shadowSettings(shadow);
  // An admission of its own: what it refuses, and what it learns of costs, is not about the requests of the server.
  const own = new Admission({ maxScans: settings.maxConcurrent, maxQueueTime: Number.POSITIVE_INFINITY });
  const services = await atPath(settings.file, async () => {
    const config = await loadConfig(settings.file);
    if (config.shadow !== undefined) {
      throw new GuardValidationError([{ path: "shadow", message: "a shadow has no shadow of its own" }]);
    }
    const { maxWindows } = config.app;
    if (maxWindows !== app.maxWindows && maxWindows !== DEFAULT_MAX_WINDOWS) {
      const message = `the shadow shares the models of the server, and how much they read (${app.maxWindows}): set the same, or leave it out`;
      throw new GuardValidationError([{ path: "app.max_windows", message }]);
    }
    return new Map(
      profilesOf(config).map(({ name, config: of, paths }) => {
        const lists = buildScanners(of, { engine }, paths);
        refuseOwnVaults(lists, "scanners.");
        // The server tests the models of its engine; a fault in one of them is for the server to tell.
        const options = { ...serviceOptions(of), selfTestInterval: 0 };
        return [name, new ScanService(lists, options, new VerdictCache(), own)] as const;
      }),
    );
  });
  return new Shadow({
    settings,
    services,
    isIdle: () => admission.waiting === 0 && admission.expectedWait < IDLE * app.maxQueueTime,
    isBusy: () => admission.waiting > 0 || admission.expectedWait > BUSY * app.maxQueueTime,
    keepsTexts: app.logContent,
  });
}

/** Tells of faults in a file at the place that names the file. */
async function atPath<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    throw new GuardValidationError(
      error.issues.map(({ path, message }) => ({
        path: "shadow",
        message: path === "" ? message : `${file}: ${path}: ${message}`,
      })),
      { cause: error },
    );
  }
}
