import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { toSnakeCase } from "../support/options.ts";

/** Runs a check, and collects the issues of its error. */
export function collectIssues<T>(issues: ValidationIssue[], check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

/** Runs a check, and prefixes the paths of its issues. */
export function withPrefix<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(path) : error;
  }
}

/** Runs a check, and adds the name of the file to the messages of its issues. */
export function withFileName<T>(file: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    throw new GuardValidationError(error.issues.map(({ path, message }) => ({ path, message: `${file}: ${message}` })));
  }
}

/** Returns the first issue of each path: a missing variable would otherwise be reported as a wrong type too. */
export function distinctIssues(issues: readonly ValidationIssue[]): ValidationIssue[] {
  return [...new Map(issues.toReversed().map((issue) => [issue.path, issue])).values()].reverse();
}

/** Adds the environment variables that an invalid value comes from. */
export function withVariables(
  { path, message }: ValidationIssue,
  variables: ReadonlyMap<string, readonly string[]>,
): ValidationIssue {
  const others = variables.get(toSnakeCase(path))?.filter((name) => !message.includes(name)) ?? [];
  return { path, message: others.length > 0 ? `${message}; the value comes from ${others.join(", ")}` : message };
}

/** Adds the file and line of a value. */
export function withLine(
  { path, message }: ValidationIssue,
  { lineOf }: { lineOf(path: string): number | undefined },
  file: string,
): ValidationIssue {
  const line = lineOf(path);
  return { path, message: `${message} (${file}${line === undefined ? "" : `:${line}`})` };
}
