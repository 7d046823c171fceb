import { GuardValidationError } from "../errors.ts";
import { fromSnakeCase } from "../options.ts";
import type { Side } from "../scanner.ts";
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
  const found = scannerClasses(side).get(type);
  if (!found) {
    const message = `unknown ${side} scanner ${type}; known are: ${scannerTypes(side).join(", ")}`;
    throw new GuardValidationError([{ path: "type", message }]);
  }
  return new found(fromSnakeCase(found.options, params ?? {}) as never, environment);
}
