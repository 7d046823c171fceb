import { isScannerType } from "../scan/known-scanners.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { CONVERSATION_RISK, SUFFIXES } from "../scan/report.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";

/**
 * Rejects unknown names, because a misspelled name would leave a scanner on. One list may serve both sides, so all types of guard's own
 * scanners are known.
 *
 * @throws GuardValidationError with the path of every unknown name, such as `suppress.0`.
 */
export function checkSuppressed(suppress: ReadonlySet<string>, scanners: readonly NamedScanner[]): void {
  if (suppress.size === 0) return;
  const known = new Set([CONVERSATION_RISK, ...scanners.flatMap(({ name, scanner }) => [name, scanner.type])]);
  const issues = [...suppress].flatMap((name, index) => {
    const suffix = SUFFIXES.find((suffix) => String(name).endsWith(suffix)) ?? "";
    const scanner = suffix === "" ? name : name.slice(0, -suffix.length);
    if (known.has(scanner) || isScannerType(scanner)) return [];
    const message = `no scanner has the name ${JSON.stringify(name)}${didYouMean(String(name), [...known])}`;
    return [{ path: `suppress.${index}`, message }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
}
