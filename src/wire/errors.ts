import { GuardError, GuardValidationError, ScannerError } from "../errors.ts";
import { GuardBlockedError } from "../guard/blocked.ts";

/** An error as a reply tells it. */
export interface WireError {
  status: number;
  /** The kind of error, as OpenAI and Anthropic name it: `invalid_request_error`, `api_error`. */
  type: string;
  code: string;
  message: string;
}

/** The error for an answer of a model that cannot be read, so that nobody has judged it. */
export function upstreamError(message: string): GuardError {
  return new GuardError("GUARD_UPSTREAM", message);
}

/** The error for a value of a request that cannot be read. */
export function unreadable(path: string, message: string): GuardValidationError {
  return new GuardValidationError([{ path, message }]);
}

/** The statuses of errors, by their codes (RFC 9110, section 15). Others are 500. */
const STATUS: Partial<Record<GuardError["code"], number>> = {
  GUARD_BLOCKED: 400,
  GUARD_VALIDATION: 400,
  GUARD_TOO_LARGE: 413,
  GUARD_UPSTREAM: 502,
  GUARD_UNREACHABLE: 502,
  GUARD_STARTING: 503,
  GUARD_UNAVAILABLE: 503,
  GUARD_OVERLOADED: 503,
  GUARD_CLOSED: 503,
  GUARD_TIMEOUT: 503,
};

/** Says what a reply tells of an error. What is no error of guard's could quote a text, so it is not told. */
export function wireError(error: unknown): WireError {
  const known = error instanceof GuardError;
  const status = (known ? STATUS[error.code] : undefined) ?? 500;
  return {
    status,
    type: status < 500 ? "invalid_request_error" : "api_error",
    code: error instanceof GuardBlockedError ? "content_policy_violation" : known ? error.code.toLowerCase() : "error",
    message: messageOf(error),
  };
}

/** What a scanner says of its failure may quote the text that it was given. */
function messageOf(error: unknown): string {
  if (error instanceof ScannerError) return `The scanner ${error.scanner} failed.`;
  return error instanceof GuardError ? error.message : "guard could not check this call.";
}
