import { GuardBlockedError } from "../guard/blocked.ts";
import { failureOf } from "../guard/failure.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";

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

/** Says what a reply tells of an error. What is no error of guard's could quote a text, so it is not told. */
export function wireError(error: unknown): WireError {
  const isBlocked = error instanceof GuardBlockedError;
  const failure = failureOf(error);
  // OpenAI and Anthropic answer 400 to what they cannot read, and to what they do not want to.
  const status = isBlocked || failure?.status === 422 ? 400 : (failure?.status ?? 500);
  return {
    status,
    type: status < 500 ? "invalid_request_error" : "api_error",
    code: isBlocked ? "content_policy_violation" : error instanceof GuardError ? error.code.toLowerCase() : "error",
    message: isBlocked ? error.message : (failure?.message ?? "guard could not check this call."),
  };
}
