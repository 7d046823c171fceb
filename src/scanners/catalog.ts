import type { Side } from "../scan/scanner.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { fromSnakeCase } from "../support/options.ts";
import type { BuiltInScanner, DefinedScanner, ScannerClass, ScannerEnvironment } from "./definition.ts";
import * as registry from "./registry.ts";

/** Every scanner, in alphabetical order of the types. */
export const SCANNERS: readonly DefinedScanner[] = Object.values(registry as Record<string, DefinedScanner>).sort(
  (one, other) => (one.definition.type < other.definition.type ? -1 : 1),
);

/** Returns the scanner classes of a side, by their types. */
export function scannerClasses(side: Side): Map<string, ScannerClass> {
  return new Map(
    SCANNERS.flatMap(({ definition, classes }) => {
      const found = classes[side];
      return found ? [[definition.type, found]] : [];
    }),
  );
}

/** Returns the types of scanner that a side has. */
export function scannerTypes(side: Side): string[] {
  return [...scannerClasses(side).keys()];
}

/**
 * Returns the class of a scanner by its type, or of a scanner that `defineScanner` or `loadPlugin` returned.
 *
 * @throws GuardValidationError with the path `type` for a type that the side does not have. The message says which type may have
 *   been meant.
 */
export function scannerClass(side: Side, type: string | DefinedScanner): ScannerClass {
  if (typeof type !== "string") return definedClass(side, type);
  const found = scannerClasses(side).get(type);
  if (found) return found;
  throw new GuardValidationError([{ path: "type", message: `unknown ${side} scanner ${type}${meant(side, type)}` }]);
}

function definedClass(side: Side, { definition, classes }: DefinedScanner): ScannerClass {
  const found = classes[side];
  if (found) return found;
  const message = `${definition.type} is no ${side} scanner: it is one of the ${Object.keys(classes).join()}`;
  throw new GuardValidationError([{ path: "type", message }]);
}

/** Says which type may have been meant by a type that the side does not have. */
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
 * Builds a scanner by its type, or one that `defineScanner` or `loadPlugin` returned. The names of its parameters may be in snake_case, as in `scanners.yml`, or in camelCase, as in a
 * program.
 *
 * @throws GuardValidationError with the path `type` for an unknown type, and otherwise with the paths of the parameters at fault.
 */
export function createScanner(
  side: Side,
  type: string | DefinedScanner,
  params: Record<string, unknown> = {},
  environment: ScannerEnvironment = {},
): BuiltInScanner {
  const found = scannerClass(side, type);
  return new found(fromSnakeCase(found.options, params ?? {}) as never, environment);
}

/** Whether guard has a scanner of a type, on any side. */
export function isScannerType(type: string): boolean {
  return SCANNERS.some(({ definition }) => definition.type === type);
}

/** The sides by the class of guard's own scanners. */
const sidesByClass = new Map<unknown, Side[]>();
for (const { classes } of SCANNERS) {
  for (const [side, scannerClass] of Object.entries(classes)) {
    sidesByClass.set(scannerClass, [...(sidesByClass.get(scannerClass) ?? []), side as Side]);
  }
}

/** Returns the sides on which one of guard's own scanners works with its defaults; undefined for any other scanner. */
export function sidesOf(scanner: object): readonly Side[] | undefined {
  return sidesByClass.get(scanner.constructor);
}
