import type { KeyObject } from "node:crypto";
import { randomUUID } from "node:crypto";
import { buildScanners, type Config, MAIN_PROFILE, type ProfileConfig, profilesOf } from "../../config/index.ts";
import { serviceOptions } from "../../config/service-options.ts";
import { assertNoOwnVaults } from "../../guard/vault-check.ts";
import type { Engine } from "../../models/engine.ts";
import { VerdictCache } from "../../scan/verdict-cache.ts";
import type { ScannerEnvironment } from "../../scanners/definition.ts";
import type { ToolPins } from "../../scanners/parts/tool-pins.ts";
import type { Admission } from "../../service/admission/admission.ts";
import { ScanService } from "../../service/service.ts";
import type { ScannerLists } from "../../service/service-types.ts";
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
}

/** A profile with what its server needs to know to cache results and to log the start. */
export interface CreatedProfile {
  profile: Profile;
  lists: ScannerLists;
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
  const { engine, admission, scanners, cacheSecret, rememberedPins } = options;
  // Scanners of a program have no text that identifies them, so their results are not shared.
  const programId = scanners?.input || scanners?.output ? randomUUID() : "";
  return profilesOf(config).map((profile) => {
    const pins = rememberedPins?.(profile.name);
    const environment = { engine, ...(pins ? { rememberedPins: pins } : {}) };
    const lists = scannerLists(profile, profile.name === MAIN_PROFILE ? scanners : undefined, environment);
    const fingerprint = () => fingerprintOf(profile.config, engine) + programId;
    const verdicts = cacheSecret && new RedisVerdicts(cacheSecret, lists.input, fingerprint);
    const settings = serviceOptions(profile.config, engine);
    const service = new ScanService(lists, settings, new VerdictCache({}, verdicts), admission);
    const variants = profile.config.app.allowThresholds
      ? new ThresholdVariants(service, profile.config, environment)
      : undefined;
    return { profile: { name: profile.name, service, variants }, lists, fingerprint, verdicts };
  });
}

/** Builds the scanners of a profile. Scanners of a program replace those of the same side. */
function scannerLists(
  { config, paths }: ProfileConfig,
  given: Partial<ScannerLists> | undefined,
  environment: ScannerEnvironment,
): ScannerLists {
  const replaced = { ...(given?.input ? { inputScanners: [] } : {}), ...(given?.output ? { outputScanners: [] } : {}) };
  const built = buildScanners({ ...config, ...replaced }, environment, paths);
  const lists = { input: given?.input ?? built.input, output: given?.output ?? built.output };
  assertNoOwnVaults(lists, "scanners.");
  return lists;
}
