import { GuardValidationError } from "../errors.ts";
import type { Side } from "../scanner.ts";
import { didYouMean } from "../validation/did-you-mean.ts";
import { fromSnakeCase } from "../validation/options.ts";
import type { BuiltInScanner, DefinedScanner, ScannerClass, ScannerEnvironment } from "./define.ts";
import * as registry from "./registry.ts";

/** Every scanner, by the alphabet of their types. */
export const SCANNERS: readonly DefinedScanner[] = Object.values(registry as Record<string, DefinedScanner>).sort(
  (one, other) => (one.definition.type < other.definition.type ? -1 : 1),
);

/** The scanner classes of a side by their types. */
export function scannerClasses(side: Side): Map<string, ScannerClass> {
  return new Map(
    SCANNERS.flatMap(({ definition, classes }) => {
      const found = classes[side];
      return found ? [[definition.type, found]] : [];
    }),
  );
}

/** The types of scanner that a side has. */
export function scannerTypes(side: Side): string[] {
  return [...scannerClasses(side).keys()];
}

/**
 * The class of a scanner by its type.
 *
 * @throws GuardValidationError with the path `type` for one that the side does not have, and with what may have been meant.
 */
export function scannerClass(side: Side, type: string): ScannerClass {
  const found = scannerClasses(side).get(type);
  if (found) return found;
  throw new GuardValidationError([{ path: "type", message: `unknown ${side} scanner ${type}${meant(side, type)}` }]);
}

/** What may have been meant by a type that a side does not have. */
function meant(side: Side, type: string): string {
  const successor = SCANNERS.find(({ definition }) => definition.formerly?.includes(type));
  if (successor) return `; llm-guard's ${type} is ${successor.definition.type} here`;
  const types = scannerTypes(side);
  const known = `known are: ${types.join(", ")}`;
  const other = side === "input" ? "output" : "input";
  if (scannerClasses(other).has(type)) return `: it is one of the ${other}; ${known}`;
  return didYouMean(type, types) || `; ${known}`;
}

/**
 * Builds a scanner by name, with the parameters as they stand in `scanners.yml` (snake_case) or in a program (camelCase).
 *
 * @throws GuardValidationError: for an unknown type with the path `type`, else with the paths of the parameters at fault.
 */
export function createScanner(
  side: Side,
  type: string,
  params: Record<string, unknown> = {},
  environment: ScannerEnvironment = {},
): BuiltInScanner {
  const found = scannerClass(side, type);
  return new found(fromSnakeCase(found.options, params ?? {}) as never, environment);
}
