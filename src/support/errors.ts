import type { NativeErrorCode } from "../../native/index.cjs";

/** What is wrong with one value of an argument or a configuration file. */
export interface ValidationIssue {
  /** The path of the value, such as `input_scanners.0.params.threshold`. It is empty if the whole argument is invalid. */
  path: string;
  /** What is wrong with it. */
  message: string;
}

/**
 * The codes that tell programs what went wrong. The addon defines some of them and documents them there; this library adds the ones
 * below.
 */
export type ErrorCode =
  | NativeErrorCode
  /** A scanner that is not guard's own failed, or returned something that is not a verdict. */
  | "GUARD_SCANNER"
  /** A model could not be downloaded. */
  | "GUARD_DOWNLOAD"
  /** A package that guard does not install is missing, or guard does not support its version. */
  | "GUARD_PACKAGE"
  /** The service is still loading its models. */
  | "GUARD_STARTING"
  /** The service cannot answer, since it could not load its models. */
  | "GUARD_UNAVAILABLE"
  /** A scan took longer than the service allows. */
  | "GUARD_TIMEOUT"
  /** A conversation has more messages than the service allows. */
  | "GUARD_TOO_LARGE"
  /** A check failed, so that a request must not be sent or an answer must not be shown. */
  | "GUARD_BLOCKED"
  /** A guard server could not be reached, or its reply makes no sense. */
  | "GUARD_UNREACHABLE"
  /** The answer of a model could not be read, so that nobody could check it. */
  | "GUARD_UPSTREAM";

/** The fields that an error may have besides its code and message. */
export interface GuardErrorOptions extends ErrorOptions {
  /** The path of the value at fault, such as `patterns.2`. */
  path?: string;
  /** When a retry makes sense, in seconds, for an error that is temporary. */
  retryAfter?: number;
}

/** An error of guard. */
export class GuardError extends Error {
  /** What went wrong. The codes are stable and meant for programs. */
  readonly code: ErrorCode;
  /** The path of the value at fault, such as `patterns.2`. It is absent when no single value is at fault. */
  readonly path?: string;
  /** When a retry makes sense, in seconds. It is absent if that is unknown. */
  readonly retryAfter?: number;

  constructor(code: ErrorCode, message: string, { path, retryAfter, ...options }: GuardErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    if (path !== undefined) this.path = path;
    if (retryAfter !== undefined) this.retryAfter = retryAfter;
  }
}

/** An invalid argument or configuration. `issues` lists every invalid value; `path` is that of the first one. */
export class GuardValidationError extends GuardError {
  readonly issues: readonly ValidationIssue[];
  /** The path of the first invalid value. It is empty if the whole argument is invalid. */
  declare readonly path: string;

  constructor(issues: readonly ValidationIssue[], options?: ErrorOptions) {
    super("GUARD_VALIDATION", issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; "), {
      ...options,
      path: issues[0]?.path ?? "",
    });
    this.issues = issues;
  }

  /**
   * Returns a copy of the error with `prefix` before every path. For example, `within("model")` changes `threshold` to `model.threshold`.
   */
  within(prefix: string): GuardValidationError {
    const issues = this.issues.map(({ path, message }) => ({ path: path ? `${prefix}.${path}` : prefix, message }));
    return new GuardValidationError(issues, { cause: this });
  }
}

/** Returns the issue in an error that the addon throws for an invalid value, and undefined for every other error. */
export function issueOf(error: unknown): ValidationIssue | undefined {
  if (!(error instanceof GuardError) || !(error.code === "GUARD_VALIDATION" || error.code === "GUARD_PATTERN")) return;
  return { path: error.path ?? "", message: error.message };
}

/** Calls a function that reads the option `prefix`, and puts the prefix before the paths of its validation errors. */
export function withPathPrefix<T>(prefix: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(prefix) : error;
  }
}

/** llm-guard uses this name for {@link GuardValidationError}. */
export const LLMGuardValidationError = GuardValidationError;

/** A scanner failed. The text was not checked, so the failure never counts as a pass. `cause` is what the scanner threw. */
export class ScannerError extends GuardError {
  /** The name of the scanner. */
  readonly scanner: string;

  constructor(scanner: string, cause: unknown) {
    const code = cause instanceof GuardError ? cause.code : "GUARD_SCANNER";
    super(code, `${scanner}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.scanner = scanner;
  }
}

/** Returns the error of a service that accepts no more scans. A retry reaches another instance, or this one after a restart. */
export function closedError(): GuardError {
  return new GuardError("GUARD_CLOSED", "The service is closing.");
}

/** Returns the code of a GuardError, or the class name of another error. Unlike the message, neither can quote a text. */
export function errorKind(error: unknown): string {
  if (error instanceof GuardError) return error.code;
  return error instanceof Error ? error.name : typeof error;
}
