import { GuardValidationError } from "../errors.ts";
import { fromSnakeCase } from "../options.ts";
import type { Scanner, ScannerClass, Side } from "../scanner.ts";
import { InvisibleText } from "./input/invisible-text.ts";
import { PromptInjection } from "./input/prompt-injection.ts";
import { TokenLimit } from "./input/token-limit.ts";
import { BanSubstrings } from "./shared/ban-substrings.ts";
import { Regex } from "./shared/regex.ts";

/** Every scanner and the sides that it works on. */
const SCANNERS: readonly [ScannerClass, ...Side[]][] = [
  [BanSubstrings, "input", "output"],
  [InvisibleText, "input"],
  [PromptInjection, "input"],
  [Regex, "input", "output"],
  [TokenLimit, "input"],
];

/** The scanner classes of a side by their types. */
export function scannerClasses(side: Side): Map<string, ScannerClass> {
  return new Map(SCANNERS.filter(([, ...sides]) => sides.includes(side)).map(([scanner]) => [scanner.type, scanner]));
}

/** The types of scanner that a side has. */
export function scannerTypes(side: Side): string[] {
  return [...scannerClasses(side).keys()];
}

/**
 * Builds a scanner by name, with the parameters as they stand in `scanners.yml` (snake_case) or in a program (camelCase).
 *
 * @throws GuardValidationError: for an unknown type with the path `type`, else with the paths of the parameters at fault.
 */
export function createScanner(side: Side, type: string, params: Record<string, unknown> = {}): Scanner {
  const found = scannerClasses(side).get(type);
  if (!found) {
    const message = `unknown ${side} scanner ${type}; known are: ${scannerTypes(side).join(", ")}`;
    throw new GuardValidationError([{ path: "type", message }]);
  }
  return new found(fromSnakeCase(found.options, params ?? {}) as never);
}
