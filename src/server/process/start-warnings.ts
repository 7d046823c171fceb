import { ignoredKeys } from "../../config/ignored-keys.ts";
import type { Config } from "../../config/index.ts";
import { risksOf } from "../../config/risks.ts";
import type { ScannerLists } from "../../service/service-types.ts";

/**
 * The warnings that the log shows at the start: settings and lists that have no effect, and the risks that the configuration takes, which
 * `guard doctor` tells as well.
 *
 * @param lists the scanners of all profiles together.
 * @param isPublic whether others than this machine reach the address that is listened on.
 */
export function startWarnings(config: Config, { input, output }: ScannerLists, isPublic: boolean): string[] {
  const said: [applies: boolean, warning: string][] = [
    [config.cache !== undefined && config.cache.enabled === undefined, "cache: not enabled; results are not cached"],
    [input.length === 0, "no input scanners: every prompt passes"],
    [output.length === 0, "no output scanners: every output passes"],
    [
      (config.auth ?? []).length > 0 && !config.auth?.some(({ maySuppress }) => maySuppress),
      "auth: no credential may leave scanners out (scanners_suppress); may_suppress: true lets those of an entry",
    ],
  ];
  const handsOutVaults = [...input, ...output].some(({ vaultScope }) => vaultScope === "call");
  const risks = risksOf(config, { env: process.env, handsOutVaults, isPublic });
  return [
    ...said.flatMap(([applies, warning]) => (applies ? [warning] : [])),
    ...risks.map(({ about, text, advice }) => `${about}: ${text}. What to do: ${advice}`),
    ...ignoredKeys(config).map(({ key, paths, reason }) => `${key} has no effect: ${reason} (${paths.join(", ")})`),
  ];
}
