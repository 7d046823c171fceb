import type { Side } from "../scan/scanner.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { fromSnakeCase } from "../support/options.ts";
import type { BuiltInScanner, DefinedScanner, ScannerClass, ScannerEnvironment } from "./definition.ts";
import * as registry from "./registry.ts";

/** All scanners, in alphabetical order of their types. */
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

/** Returns the types of the scanners of a side. */
export function scannerTypes(side: Side): string[] {
  return [...scannerClasses(side).keys()];
}

/**
 * Returns the class of a scanner by its type, or of a result of `defineScanner` or `loadPlugin`.
 *
 * @throws GuardValidationError with the path `type` for an unknown type. The message suggests the type that may be meant.
 */
export function scannerClass(side: Side, type: string | DefinedScanner): ScannerClass {
  if (typeof type !== "string") return definedClass(side, type);
  const found = scannerClasses(side).get(type);
  if (found) return found;
  throw new GuardValidationError([
    { path: "type", message: `unknown ${side} scanner ${type}${suggestion(side, type)}` },
  ]);
}

function definedClass(side: Side, { definition, classes }: DefinedScanner): ScannerClass {
  const found = classes[side];
  if (found) return found;
  const message = `${definition.type} is not an ${side} scanner, but an ${Object.keys(classes).join()} scanner`;
  throw new GuardValidationError([{ path: "type", message }]);
}

/** Returns the end of the message about an unknown type, which suggests the type that may be meant. */
function suggestion(side: Side, type: string): string {
  const successor = SCANNERS.find(({ definition }) => definition.formerly?.includes(type));
  if (successor) return `; llm-guard's ${type} is ${successor.definition.type} here`;
  const types = scannerTypes(side);
  const known = `known are: ${types.join(", ")}`;
  const other = side === "input" ? "output" : "input";
  if (scannerClasses(other).has(type)) return `: it is an ${other} scanner; ${known}`;
  return didYouMean(type, types) || `; ${known}`;
}

/**
 * Builds a scanner by its type, or from a result of `defineScanner` or `loadPlugin`. Names of parameters may be in snake_case, as in
 * `scanners.yml`, or in camelCase, as in a program.
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
