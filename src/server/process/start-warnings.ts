import { ignoredKeys } from "../../config/ignored-keys.ts";
import type { Config } from "../../config/index.ts";
import { risksOf } from "../../config/risks.ts";
import type { ScannerLists } from "../../scan/scanner.ts";

/**
 * Returns the warnings of a start: settings without effect, and the risks of the configuration that `guard doctor` shows too.
 *
 * @param lists the scanners of all profiles.
 * @param isPublic whether other machines reach the server.
 */
export function startWarnings(config: Config, { input, output }: ScannerLists, isPublic: boolean): string[] {
  const warnings: [applies: boolean, warning: string][] = [
    [config.cache !== undefined && config.cache.enabled === undefined, "cache: not enabled; results are not cached"],
    [input.length === 0, "no input scanners: every prompt passes"],
    [output.length === 0, "no output scanners: every output passes"],
    [
      (config.auth ?? []).length > 0 && !config.auth?.some(({ maySuppress }) => maySuppress),
      "auth: no credential may suppress scanners (scanners_suppress); may_suppress: true in an entry allows it",
    ],
  ];
  const returnsVaults = [...input, ...output].some(({ vaultScope }) => vaultScope === "call");
  const requestsReviews = [...input, ...output].some(({ reviewThreshold }) => reviewThreshold !== undefined);
  const risks = risksOf(config, { env: process.env, returnsVaults, requestsReviews, isPublic });
  return [
    ...warnings.flatMap(([applies, warning]) => (applies ? [warning] : [])),
    ...risks.map(({ about, text, advice }) => `${about}: ${text}. Advice: ${advice}`),
    ...ignoredKeys(config).map(({ key, paths, reason }) => `${key} has no effect: ${reason} (${paths.join(", ")})`),
  ];
}
