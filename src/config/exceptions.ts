import { type Exception, expiryOf, idOf } from "../scan/exceptions/exception.ts";
import { GuardValidationError } from "../support/errors.ts";
import { EXCEPTIONS_KEY } from "./exception-key.ts";
import { LISTS, type ProfileConfig, profilesOf } from "./profiles.ts";
import type { Config } from "./schema.ts";

/** An exception of a configuration. */
export interface ConfiguredException {
  exception: Exception;
  /** Its path in the file. */
  path: string;
}

/**
 * Returns the exceptions of one profile, with those of all profiles first.
 *
 * @param paths of the lists of scanners in the file.
 */
export function exceptionsOf(
  config: Config,
  paths: ProfileConfig["paths"] = { input: "input_scanners", output: "output_scanners" },
): ConfiguredException[] {
  const own = (config.allow ?? []).map((fields, index) => ({ fields, path: `allow.${index}` }));
  const ofEntries = LISTS.flatMap(([side, list]) => {
    const names = entryNames(config[list]);
    return config[list].flatMap(({ allow = [] }, index) =>
      allow.map((fields, at) => ({
        fields: { ...fields, scanners: [names[index] as string], side },
        path: `${paths[side]}.${index}.allow.${at}`,
      })),
    );
  });
  return [...own, ...ofEntries].map(({ fields, path }) => ({ exception: { ...fields, id: idOf(fields) }, path }));
}

/** Returns the exceptions of all profiles that have expired. */
export function expiredExceptions(config: Config, now = Date.now()): ConfiguredException[] {
  const all = profilesOf(config).flatMap(({ config: own, paths }) => exceptionsOf(own, paths));
  const byPath = new Map(all.map((one) => [one.path, one]));
  return [...byPath.values()].filter(({ exception }) => (expiryOf(exception.expires) ?? 0) <= now);
}

/**
 * Checks that hashes of exact texts have their key.
 *
 * @throws GuardValidationError with the environment variable as its path.
 */
export function assertHashKey(exceptions: readonly Exception[], key: Uint8Array | undefined): void {
  if (key || exceptions.every(({ textHash }) => textHash === undefined)) return;
  const message = "is required for text_hash: the key with which guard-scan hash-text made the hashes";
  throw new GuardValidationError([{ path: EXCEPTIONS_KEY, message }]);
}

/** Returns the names of scanners in results, as `nameScanners` makes them. */
function entryNames(entries: Config["inputScanners"]): string[] {
  const taken = new Set<string>();
  return entries.map(({ type, name = undefined, params }) => {
    const own = String(name ?? params.name ?? (typeof type === "string" ? type : type.definition.type));
    let unique = own;
    for (let count = 2; taken.has(unique); count++) unique = `${own}#${count}`;
    taken.add(unique);
    return unique;
  });
}
