import type { Side } from "../scan/scanner.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { fromSnakeCase } from "../support/options.ts";
import { describeKind } from "../support/schema-messages.ts";
import {
  type BuiltInScanner,
  type DefinedScanner,
  isDefinedScanner,
  type ScannerClass,
  type ScannerEnvironment,
} from "./definition.ts";
import * as registry from "./registry.ts";

/** All scanners, in alphabetical order of their types. */
export const SCANNERS: readonly DefinedScanner[] = Object.values(registry as Record<string, DefinedScanner>).sort(
  (one, other) => (one.definition.type < other.definition.type ? -1 : 1),
);

const SIDES: readonly Side[] = ["input", "output"];

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
 * @throws GuardValidationError with the path `side` or `type` for an unknown one. The message suggests the one that may be meant.
 */
export function scannerClass(side: Side, type: string | DefinedScanner): ScannerClass {
  if (!SIDES.includes(side)) {
    throw new GuardValidationError([{ path: "side", message: `expected ${SIDES.join(" or ")}${meant(side)}` }]);
  }
  if (isDefinedScanner(type)) return definedClass(side, type);
  if (typeof type !== "string") {
    const message = `expected the type of a scanner, a text, or a result of defineScanner or loadPlugin, got ${describeKind(type)}`;
    throw new GuardValidationError([{ path: "type", message }]);
  }
  const found = scannerClasses(side).get(type);
  if (found) return found;
  throw new GuardValidationError([
    { path: "type", message: `unknown ${side} scanner ${type}${suggestion(side, type)}` },
  ]);
}

/** Returns the end of the message about an unknown side, which suggests the one that may be meant. */
function meant(side: unknown): string {
  return (typeof side === "string" && didYouMean(side, SIDES)) || `, got ${describeKind(side)}`;
}

/**
 * Refuses a plugin with the type of a built-in scanner: results, metrics and `suppress` could not tell them apart.
 *
 * @throws GuardValidationError with the path `type`.
 */
export function checkOwnType(type: string): void {
  if (!SCANNERS.some(({ definition }) => definition.type === type)) return;
  throw new GuardValidationError([{ path: "type", message: "a built-in scanner has this type" }]);
}

function definedClass(side: Side, { definition, classes }: DefinedScanner): ScannerClass {
  if (!SCANNERS.some((scanner) => scanner.definition === definition)) checkOwnType(definition.type);
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
 * @throws GuardValidationError with the path `side` or `type` for an unknown one, and otherwise with the paths of the parameters at fault.
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
