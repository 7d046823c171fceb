import type { CheckResult } from "./check-result.ts";
import type { NamedScanner } from "./named-scanners.ts";
import type { Scanner } from "./scanner.ts";

/** What happens to a text that was scanned; see {@link outcomeOf}. */
export const OUTCOMES = ["passed", "masked", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether a scanner replaces values by placeholders of a vault, so that nothing has to be blocked. */
export function replacesValues({ sanitizes, vaultScope }: Scanner): boolean {
  return sanitizes && vaultScope !== undefined;
}

/** Whether a scanner removes everything that it finds from a text. */
export function removesFindings({ sanitizes, leavesFindings = false }: Scanner): boolean {
  return sanitizes && !leavesFindings;
}

/** Whether texts that fail by this scanner alone may go on, because it removed what it found; see {@link outcomeOf}. */
function masks({ name, scanner }: NamedScanner, masking: ReadonlySet<string>): boolean {
  return removesFindings(scanner) && (replacesValues(scanner) || masking.has(name) || masking.has(scanner.type));
}

/** What an outcome is decided from. */
export interface OutcomePolicy {
  /** The scanners that judged the text. */
  scanners: readonly NamedScanner[];
  /** The scanners that judged texts of a conversation, if they are others. */
  conversationScanners?: readonly NamedScanner[];
  /** The names or types of scanners whose findings need not block, because they remove them from the text. */
  masking: ReadonlySet<string>;
}

/**
 * Decides what happens to a text. `passed`: no check failed, and the text goes on as the scanners left it. `masked`: some check failed, but
 * only checks that removed what they found. `blocked`: nothing of the text may go on.
 *
 * Checks that replace values by placeholders of a vault never block. Others block, unless the policy names them.
 */
export function outcomeOf(
  { isValid, checks }: { isValid: boolean; checks: readonly CheckResult[] },
  { scanners, conversationScanners = scanners, masking }: OutcomePolicy,
): Outcome {
  if (isValid) return "passed";
  const failing = checks.filter((check) => !check.isValid);
  const isMasked = ({ scanner, scope, outcome }: CheckResult) => {
    if (outcome !== "rewritten") return false;
    const judging = scope === "latest" || scope === "output" ? scanners : conversationScanners;
    return judging.some((item) => item.name === scanner && masks(item, masking));
  };
  // A text may also fail although no check did, because part of it was not scanned.
  return failing.length > 0 && failing.every(isMasked) ? "masked" : "blocked";
}
