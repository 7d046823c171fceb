import { SUFFIXES } from "./result-names.ts";
import type { NamedScanner, ScanReport } from "./scan.ts";
import type { Scanner } from "./scanner.ts";

/** What becomes of a text that was scanned; see {@link outcomeOf}. */
export const OUTCOMES = ["passed", "masked", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Tells whether a scanner replaces values by placeholders of a vault, so that nothing needs to be blocked. */
export function replacesValues({ sanitizes, vaultScope }: Scanner): boolean {
  return sanitizes && vaultScope !== undefined;
}

/** Tells whether a scanner takes all that it finds out of a text. */
export function takesOut({ sanitizes, leavesFindings = false }: Scanner): boolean {
  return sanitizes && !leavesFindings;
}

/** Tells whether texts may go on that fail by this scanner alone, because it takes out what it finds; see {@link outcomeOf}. */
function masks({ name, scanner }: NamedScanner, masking: ReadonlySet<string>): boolean {
  return takesOut(scanner) && (replacesValues(scanner) || masking.has(name) || masking.has(scanner.type));
}

/**
 * Decides what becomes of a text. `passed`: no check failed, and the text goes on as the scanners left it. `masked`: some check
 * failed, but only checks that took out what they found, so that what they left may go on. `blocked`: nothing of it may go on.
 *
 * Checks that replace values by placeholders of a vault never block. Others block, unless the caller names them.
 *
 * @param scanners those that judged the text.
 * @param masking the names or types of the other scanners whose findings need not block, because they take them out of the text.
 * @param ofConversation those that judged texts of a conversation, if there is one. A scanner of another side may have the same name.
 */
export function outcomeOf(
  {
    isValid,
    resultsValid,
    unchanged = [],
    coverage,
  }: Pick<ScanReport, "isValid" | "resultsValid" | "unchanged" | "coverage">,
  scanners: readonly NamedScanner[],
  masking: ReadonlySet<string>,
  ofConversation = scanners,
): Outcome {
  if (isValid) return "passed";
  const failing = Object.keys(resultsValid).filter((name) => resultsValid[name] === false);
  const isMasked = (result: string) => {
    // The text of a check that threw is as it was.
    if (coverage.failed.includes(result) || unchanged.includes(result)) return false;
    const suffix = SUFFIXES.find((suffix) => result.endsWith(suffix)) ?? "";
    const name = suffix === "" ? result : result.slice(0, -suffix.length);
    const judging = suffix === "" ? scanners : ofConversation;
    return judging.some((item) => item.name === name && masks(item, masking));
  };
  // A text may also fail although no check did, because something of it was not looked at.
  return failing.length > 0 && failing.every(isMasked) ? "masked" : "blocked";
}
