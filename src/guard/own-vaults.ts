import type { ScannerLists } from "../service/service-types.ts";
import { GuardValidationError } from "../support/errors.ts";

/**
 * Refuses scanners that have a vault of their own. It would outlive a call, and show the values of one caller to the next.
 *
 * @param prefix stands before the paths of the lists, such as `scanners.`.
 * @throws GuardValidationError with the path of every such scanner.
 */
export function refuseOwnVaults(lists: ScannerLists, prefix: string): void {
  const issues = Object.entries(lists).flatMap(([side, scanners]) =>
    scanners.flatMap(({ name, vaultScope }, index) => {
      if (vaultScope !== "own") return [];
      const message = `${name} has a vault of its own, which all callers would share`;
      return [{ path: `${prefix}${side}.${index}`, message }];
    }),
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
}
