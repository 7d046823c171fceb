import { sidesOf } from "../scan/known-scanners.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import type { Side } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";

/**
 * Checks that guard's own scanners are used on their side: `input.Toxicity` and `output.Toxicity` have different defaults.
 *
 * @throws GuardValidationError with the path of every scanner of the other side, such as `scanners.0`.
 */
export function checkSides(scanners: readonly NamedScanner[], side: Side): void {
  for (const { scanner } of scanners) {
    if (sidesOf(scanner)?.includes(side) === false) throw wrongSides(scanners, side);
  }
}

function wrongSides(scanners: readonly NamedScanner[], side: Side): GuardValidationError {
  const issues = scanners.flatMap(({ scanner }, index) => {
    if (sidesOf(scanner)?.includes(side) !== false) return [];
    const other = side === "input" ? "output" : "input";
    const message = `${scanner.type} is an ${other} scanner; use ${side}.${scanner.type} of guard-scan/${side}-scanners if there is one`;
    return [{ path: `scanners.${index}`, message }];
  });
  return new GuardValidationError(issues);
}
