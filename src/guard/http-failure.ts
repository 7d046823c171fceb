import { type ErrorCode, GuardError, ScannerError } from "../support/errors.ts";

/** The answer to an HTTP client when guard could not check a text. */
export interface HttpFailure {
  /** The HTTP status. */
  status: number;
  /** One sentence that quotes no text. */
  message: string;
  /** The value of `Retry-After`, in seconds. */
  retryAfter?: number;
}

/**
 * The statuses of errors whose messages are full sentences that quote no text. `retryAfter` is in seconds, after which this server or its
 * replacement can answer. 499 is nginx's status for a client that disconnected; it appears only in the log.
 */
const STATUSES: Partial<Record<ErrorCode, Omit<HttpFailure, "message">>> = {
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

/** Messages for errors that a scanner passes on. The scanner's own message may quote the text. */
const SCANNER_MESSAGES: Partial<Record<ErrorCode, string>> = {
  GUARD_OVERLOADED: "Too many texts wait for a model.",
  GUARD_CLOSED: "The service is closing.",
};

/** Converts an error of guard to an HTTP answer. It returns undefined for other errors. */
export function toHttpFailure(error: unknown): HttpFailure | undefined {
  if (error instanceof ScannerError) {
    const message = SCANNER_MESSAGES[error.code];
    if (message !== undefined) return { ...(STATUSES[error.code] as HttpFailure), message };
    return { status: 500, message: `The scanner ${error.scanner} failed.` };
  }
  if (!(error instanceof GuardError)) return;
  const known = Object.hasOwn(STATUSES, error.code) ? STATUSES[error.code] : undefined;
  if (!known) return { status: 500, message: "Something went wrong here." };
  const { message, retryAfter } = error;
  return { ...known, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
