import type { ScannerLists } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";

/**
 * Rejects scanners with a vault of their own. Such a vault outlives a call and would leak values of one caller to the next.
 *
 * @param prefix the prefix of the paths of the lists, such as `scanners.`.
 * @throws GuardValidationError with the path of every such scanner.
 */
export function assertNoOwnVaults(lists: ScannerLists, prefix: string): void {
  const issues = Object.entries(lists).flatMap(([side, scanners]) =>
    scanners.flatMap(({ name, vaultScope }, index) => {
      if (vaultScope !== "own") return [];
      const message = `${name} has a vault of its own, which all callers would share`;
      return [{ path: `${prefix}${side}.${index}`, message }];
    }),
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
}
