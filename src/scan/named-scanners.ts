import { GuardValidationError } from "../support/errors.ts";
import { describeKind } from "../support/schema-messages.ts";
import type { Scope } from "./check-result.ts";
import { isScannerType } from "./known-scanners.ts";
import { isReservedName, RESERVED_NAME, suffixOf } from "./report.ts";
import type { Scanner } from "./scanner.ts";

/** A scanner and its name in results. */
export interface NamedScanner {
  name: string;
  scanner: Scanner;
}

/**
 * Assigns a unique name to every scanner: the second `Regex` of a list becomes `Regex#2`.
 *
 * @param path the path of the list, for errors.
 * @throws GuardValidationError if the value is not a list of scanners, and for a name that {@link isReservedName} rejects.
 */
export function nameScanners(scanners: readonly Scanner[], path = "scanners"): NamedScanner[] {
  if (!Array.isArray(scanners)) throw new GuardValidationError([{ path, message: "expected an array of scanners" }]);
  const issues = scanners.flatMap((scanner: unknown, index) => {
    const message = findFault(scanner);
    return message === undefined ? [] : [{ path: `${path}.${index}${message.at}`, message: message.text }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
  const taken = new Set<string>();
  return scanners.map((scanner: Scanner) => {
    let name = scanner.name;
    for (let count = 2; taken.has(name); count++) name = `${scanner.name}#${count}`;
    taken.add(name);
    return { name, scanner };
  });
}

/** Describes why a value is not a scanner, with the path of the error. */
function findFault(scanner: unknown): { at: string; text: string } | undefined {
  if (typeof scanner === "function") {
    const name = scanner.name || "Scanner";
    return { at: "", text: `expected a scanner, got the class ${name}; create one: new ${name}(…)` };
  }
  if (typeof scanner !== "object" || scanner === null) {
    const create = typeof scanner === "string" && isScannerType(scanner) ? `"${scanner}"` : "type";
    const text = `expected a scanner, got ${describeKind(scanner)}; create one: createScanner(side, ${create}, options)`;
    return { at: "", text };
  }
  const name: unknown = (scanner as Partial<Scanner>).name;
  if (typeof name !== "string") return { at: ".name", text: "expected the name of a scanner, a string" };
  return isReservedName(name) ? { at: ".name", text: RESERVED_NAME } : undefined;
}

/**
 * Returns suppressed names as a set. A request may name as many scanners as fit into its body, and every scanner looks itself up for every
 * text, so lookups must be fast.
 *
 * @throws GuardValidationError if the value is not a list.
 */
export function suppressedNames(suppress: readonly string[] | ReadonlySet<string> = []): ReadonlySet<string> {
  if (suppress instanceof Set) return suppress;
  if (!Array.isArray(suppress)) {
    throw new GuardValidationError([{ path: "suppress", message: "expected an array of names" }]);
  }
  return new Set(suppress);
}

/** Whether names suppress the check of a scanner in a scope. `X` suppresses `X[window]` too. */
export function isSuppressed(
  { name, scanner }: NamedScanner,
  suppressed: ReadonlySet<string>,
  scope: Scope = "latest",
): boolean {
  if (suppressed.size === 0) return false;
  const suffix = suffixOf(scope);
  return [name, scanner.type].some((known) => suppressed.has(known) || suppressed.has(known + suffix));
}
