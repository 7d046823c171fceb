/** What is wrong with one value of an argument or a configuration file. */
export interface ValidationIssue {
  /** Where the value stands: `input_scanners.0.params.threshold`; empty for the whole. */
  path: string;
  /** What is wrong with it. */
  message: string;
}

/**
 * An error of guard. `code` is stable and meant for programs: `GUARD_VALIDATION`, `GUARD_OVERLOADED`, `GUARD_ABORTED`,
 * `GUARD_CLOSED`, `GUARD_MODEL`, `GUARD_RUNTIME`, `GUARD_PROVIDER_UNAVAILABLE`, `GUARD_SETTING`, `GUARD_TOKENIZATION`,
 * `GUARD_INFERENCE`, `GUARD_PANIC`, `GUARD_PATTERN`, `GUARD_SCANNER`, `GUARD_DOWNLOAD`, `GUARD_STARTING`, `GUARD_UNAVAILABLE`,
 * `GUARD_TIMEOUT`, `GUARD_TOO_LARGE`.
 */
export class GuardError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A bad argument or configuration. `issues` names every value at fault, `path` the first one. */
export class GuardValidationError extends GuardError {
  readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[], options?: ErrorOptions) {
    super(
      "GUARD_VALIDATION",
      issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; "),
      options,
    );
    this.issues = issues;
  }

  /** Where the first value at fault stands. */
  get path(): string {
    return this.issues[0]?.path ?? "";
  }

  /** The same error seen from the outside, where its values stand below `prefix`. */
  within(prefix: string): GuardValidationError {
    const issues = this.issues.map(({ path, message }) => ({ path: path ? `${prefix}.${path}` : prefix, message }));
    return new GuardValidationError(issues, { cause: this });
  }
}

/** What `make` returns; the paths of its validation errors begin with `prefix`, the option that it was made from. */
export function madeFrom<T>(prefix: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(prefix) : error;
  }
}

/** The name of {@link GuardValidationError} in llm-guard. */
export const LLMGuardValidationError = GuardValidationError;

/** A scanner failed. The text was not checked: this is never a pass. `cause` is what the scanner threw. */
export class ScannerError extends GuardError {
  /** The name of the scanner. */
  readonly scanner: string;

  constructor(scanner: string, cause: unknown) {
    const code = cause instanceof GuardError ? cause.code : "GUARD_SCANNER";
    super(code, `${scanner}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.scanner = scanner;
  }
}
