import { type ErrorCode, GuardError, ScannerError } from "../support/errors.ts";

/** What a caller over HTTP is told when guard could not check a text. */
export interface Failure {
  /** The HTTP status. */
  status: number;
  /** One sentence, which quotes nothing of a text. */
  message: string;
  /** Seconds after which another try makes sense. */
  retryAfter?: number;
}

/**
 * The statuses of errors whose messages are whole sentences that quote no text. `retryAfter` is in seconds: whoever tries again then
 * finds this server able to answer, or another one in its place. 499 is nginx's status for a client that went away; nobody reads
 * that answer, but the log has it.
 */
const STATUSES: Partial<Record<ErrorCode, Omit<Failure, "message">>> = {
  GUARD_VALIDATION: { status: 422 },
  GUARD_TOO_LARGE: { status: 413 },
  GUARD_ABORTED: { status: 499 },
  GUARD_STARTING: { status: 503, retryAfter: 5 },
  GUARD_CLOSED: { status: 503, retryAfter: 5 },
  GUARD_OVERLOADED: { status: 503, retryAfter: 1 },
  GUARD_UNAVAILABLE: { status: 503 },
  GUARD_UNREACHABLE: { status: 502 },
  GUARD_UPSTREAM: { status: 502 },
  GUARD_TIMEOUT: { status: 504 },
};

/** What is said of errors of scanners that are not their own fault. A scanner's message may quote the text that it was given. */
const OF_SCANNERS: Partial<Record<ErrorCode, string>> = {
  GUARD_OVERLOADED: "Too many texts wait for a model.",
  GUARD_CLOSED: "The service is closing.",
};

/** Tells what a caller over HTTP may know of an error of guard. It is undefined for errors of others. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ScannerError) {
    const message = OF_SCANNERS[error.code];
    if (message !== undefined) return { ...(STATUSES[error.code] as Failure), message };
    return { status: 500, message: `The scanner ${error.scanner} failed.` };
  }
  if (!(error instanceof GuardError)) return;
  const known = Object.hasOwn(STATUSES, error.code) ? STATUSES[error.code] : undefined;
  if (!known) return { status: 500, message: "Something went wrong here." };
  const { message, retryAfter } = error;
  return { ...known, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
