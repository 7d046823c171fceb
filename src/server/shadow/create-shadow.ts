import { type Config, loadConfig, profilesOf, shadowSettings } from "../../config/index.ts";
import type { Engine } from "../../models/engine.ts";
import { DEFAULT_MAX_WINDOWS } from "../../models/engine-options.ts";
import { Admission } from "../../service/admission/admission.ts";
import { createService } from "../../service/create-service.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { Shadow } from "./shadow.ts";

/**
 * The server is idle if its expected wait is below the first fraction of `max_queue_time`, and busy above the second one. The expected
 * wait is in seconds of the whole machine, so a few scans leave a large machine idle, but not a small one.
 */
const [IDLE_FRACTION, BUSY_FRACTION] = [0.01, 0.25];

/**
 * Creates the shadow of a configuration, if it has one. Nothing is loaded yet.
 *
 * @param engine the engine of the server, so that models of both configurations are loaded once.
 * @param admission the admission control of the server. The shadow runs only while the server is idle.
 * @throws GuardValidationError with the path `shadow` for an unreadable or invalid file.
 */
export async function createShadow(
  { shadow, app }: Config,
  engine: Engine,
  admission: Pick<Admission, "queueSize" | "expectedWait">,
  exceptionsKey: Uint8Array,
): Promise<Shadow | undefined> {
  if (shadow === undefined) return undefined;
  const settings = shadowSettings(shadow);
  // The shadow has its own admission control, which must not affect the one of the server.
  const shadowAdmission = new Admission({ maxScans: settings.maxConcurrent, maxQueueTime: Number.POSITIVE_INFINITY });
  const services = await atPath(settings.file, async () => {
    const config = await loadConfig(settings.file);
    if (config.shadow !== undefined) {
      throw new GuardValidationError([{ path: "shadow", message: "a shadow configuration must not have a shadow" }]);
    }
    const { maxWindows } = config.app;
    if (maxWindows !== app.maxWindows && maxWindows !== DEFAULT_MAX_WINDOWS) {
      const message = `the shadow shares the models of the server and their limit (${app.maxWindows}): set the same value, or omit it`;
      throw new GuardValidationError([{ path: "app.max_windows", message }]);
    }
    return new Map(
      profilesOf(config).map(({ name, config: profileConfig, paths }) => {
        // The server runs the self-tests of the shared engine.
        const options = {
          engine,
          paths,
          settings: { selfTestInterval: 0 },
          selfTest: false,
          admission: shadowAdmission,
          exceptionsKey,
        };
        return [name, createService(profileConfig, options)] as const;
      }),
    );
  });
  return new Shadow({
    settings,
    services,
    isIdle: () => admission.queueSize === 0 && admission.expectedWait < IDLE_FRACTION * app.maxQueueTime,
    isBusy: () => admission.queueSize > 0 || admission.expectedWait > BUSY_FRACTION * app.maxQueueTime,
    keepsTexts: app.logContent,
  });
}

/** Moves validation errors of a file to the path of the setting that names the file. */
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
