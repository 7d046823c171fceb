import { ignoredKeys } from "../../config/ignored-keys.ts";
import type { Config } from "../../config/index.ts";
import { risksOf } from "../../config/risks.ts";
import type { ScannerLists } from "../../scan/scanner.ts";

/**
 * Returns the warnings of a start: settings without effect, and the risks of the configuration that `guard doctor` shows too.
 *
 * @param lists the scanners of each profile.
 * @param isPublic whether other machines reach the server.
 */
export function startWarnings(config: Config, lists: readonly ScannerLists[], isPublic: boolean): string[] {
  const input = lists.flatMap((of) => of.input);
  const output = lists.flatMap((of) => of.output);
  const warnings: [applies: boolean, warning: string][] = [
    [
      lists.some(redactsRestored),
      "output_scanners: Sensitive redacts what Deanonymize restores; put Sensitive before Deanonymize",
    ],
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

/** Whether Sensitive redacts what an earlier Deanonymize restores. */
function redactsRestored({ output }: ScannerLists): boolean {
  const restores = output.findIndex(({ type }) => type === "Deanonymize");
  return restores >= 0 && output.slice(restores).some(({ type, sanitizes }) => type === "Sensitive" && sanitizes);
}
