import type { NativeErrorCode } from "../native/index.cjs";

/** What is wrong with one value of an argument or a configuration file. */
export interface ValidationIssue {
  /** Where the value stands: `input_scanners.0.params.threshold`; empty for the whole. */
  path: string;
  /** What is wrong with it. */
  message: string;
}

/** What went wrong, for programs: the codes of the addon, which are documented there, and those of this library. */
export type ErrorCode =
  | NativeErrorCode
  /** A scanner that is not guard's own failed, or answered something else than it must. */
  | "GUARD_SCANNER"
  /** A model could not be downloaded. */
  | "GUARD_DOWNLOAD"
  /** The service still loads its models. */
  | "GUARD_STARTING"
  /** The service cannot answer, since it could not load its models. */
  | "GUARD_UNAVAILABLE"
  /** A scan took longer than the service allows. */
  | "GUARD_TIMEOUT"
  /** A conversation has more messages than the service allows. */
  | "GUARD_TOO_LARGE";

/** What an error knows besides its code and message. */
export interface GuardErrorOptions extends ErrorOptions {
  /** Where the value at fault stands, such as `patterns.2`. */
  path?: string;
}

/** An error of guard. */
export class GuardError extends Error {
  /** What went wrong. The codes are stable and meant for programs. */
  readonly code: ErrorCode;
  /** Where the value at fault stands, such as `patterns.2`; absent where it is no one value. */
  readonly path?: string;

  constructor(code: ErrorCode, message: string, { path, ...options }: GuardErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    if (path !== undefined) this.path = path;
  }
}

/** A bad argument or configuration. `issues` names every value at fault, `path` the first one. */
export class GuardValidationError extends GuardError {
  readonly issues: readonly ValidationIssue[];
  /** Where the first value at fault stands; empty for the whole. */
  declare readonly path: string;

  constructor(issues: readonly ValidationIssue[], options?: ErrorOptions) {
    super("GUARD_VALIDATION", issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; "), {
      ...options,
      path: issues[0]?.path ?? "",
    });
    this.issues = issues;
  }

  /** The same error seen from the outside, where its values stand below `prefix`. */
  within(prefix: string): GuardValidationError {
    const issues = this.issues.map(({ path, message }) => ({ path: path ? `${prefix}.${path}` : prefix, message }));
    return new GuardValidationError(issues, { cause: this });
  }
}

/** What an error of the addon says of a value that it was given; nothing for other errors. */
export function issueOf(error: unknown): ValidationIssue | undefined {
  if (!(error instanceof GuardError) || !(error.code === "GUARD_VALIDATION" || error.code === "GUARD_PATTERN")) return;
  return { path: error.path ?? "", message: error.message };
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
