import type { KeyObject } from "node:crypto";
import { randomUUID } from "node:crypto";
import { type Config, MAIN_PROFILE, type ProfileConfig, profilesOf } from "../../config/index.ts";
import type { Engine } from "../../models/engine.ts";
import type { ScannerLists } from "../../scan/scanner.ts";
import { VerdictCache } from "../../scan/verdict-cache.ts";
import type { ToolPins } from "../../scanners/parts/tool-pins.ts";
import type { Admission } from "../../service/admission/admission.ts";
import { createService } from "../../service/create-service.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { fingerprintOf } from "../cache/fingerprint.ts";
import { RedisVerdicts } from "../cache/redis-verdicts.ts";
import type { Profile } from "./profiles.ts";
import { ThresholdVariants } from "./threshold-variants.ts";

export interface ProfilesOptions {
  engine: Engine;
  /** All profiles share the processors, and so the admission control. */
  admission: Admission;
  /** Scanners of the program that replace those of the main profile. */
  scanners: Partial<ScannerLists> | undefined;
  /** The secret that servers share to share verdicts. */
  cacheSecret: KeyObject | undefined;
  rememberedPins: ((profile: string) => ToolPins) | undefined;
  /** The key of the hashes of exact texts. */
  exceptionsKey: Uint8Array;
}

/** A profile with what its server needs to know to cache results and to log the start. */
export interface CreatedProfile {
  profile: Profile;
  /** Returns what the results of the profile depend on besides the requests. */
  fingerprint(): string;
  verdicts: RedisVerdicts | undefined;
}

/**
 * Creates the profiles of a configuration with their scanners, the main one first.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export function createProfiles(config: Config, options: ProfilesOptions): CreatedProfile[] {
  const { engine, admission, scanners, cacheSecret, rememberedPins, exceptionsKey } = options;
  // Scanners of a program have no text that identifies them, so their results are not shared.
  const programId = scanners?.input || scanners?.output ? randomUUID() : "";
  return profilesOf(config).map((profile) => {
    const pins = rememberedPins?.(profile.name);
    const environment = pins ? { rememberedPins: pins } : {};
    const fingerprint = () => fingerprintOf(profile.config, engine) + programId;
    let verdicts: RedisVerdicts | undefined;
    const service = withProfileName(profile, () =>
      createService(profile.config, {
        ...{ engine, environment, admission, exceptionsKey, paths: profile.paths },
        scanners: profile.name === MAIN_PROFILE ? scanners : undefined,
        createVerdictCache: ({ input }) => {
          verdicts = cacheSecret && new RedisVerdicts(cacheSecret, input, fingerprint);
          return new VerdictCache({}, verdicts);
        },
      }),
    );
    const variants = profile.config.app.allowThresholds
      ? new ThresholdVariants(service, profile.config, { engine, ...environment })
      : undefined;
    return { profile: { name: profile.name, service, variants }, fingerprint, verdicts };
  });
}

/** The settings that a profile inherits if it has none of its own. */
const INHERITED = /^(?:app|conversation)\./;

/** Puts the name of a profile before the paths of errors in its settings. The paths of its scanners have it already. */
function withProfileName<T>({ name }: ProfileConfig, create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof GuardValidationError) || name === MAIN_PROFILE) throw error;
    const issues = error.issues.map(({ path, message }) =>
      INHERITED.test(path)
        ? {
            path: `profiles.${name}.${path}`,
            message: `${message} (the profile inherits settings that it does not have)`,
          }
        : { path, message },
    );
    throw new GuardValidationError(issues, { cause: error });
  }
}
