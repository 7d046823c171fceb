import { GuardBlockedError } from "../guard/blocked-error.ts";
import { toHttpFailure } from "../guard/http-failure.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";

/** The status and fields of an error reply. */
export interface ReplyError {
  status: number;
  /** The type of the error in the terms of OpenAI and Anthropic: `invalid_request_error` or `api_error`. */
  type: string;
  code: string;
  message: string;
}

/** Creates the error for a model's answer that cannot be read and so was not checked. */
export function upstreamError(message: string): GuardError {
  return new GuardError("GUARD_UPSTREAM", message);
}

/** Creates the error for a value of a request that cannot be read. */
export function invalidRequest(path: string, message: string): GuardValidationError {
  return new GuardValidationError([{ path, message }]);
}

/**
 * Converts an error to a reply. The message of an error that is not guard's may quote a text, so it is not included.
 *
 * @param blockedStatus the status of replies to blocked calls.
 */
export function toReplyError(error: unknown, blockedStatus: number): ReplyError {
  const isBlocked = error instanceof GuardBlockedError;
  const code = isBlocked && error.outcome === "review" ? "review_required" : "content_policy_violation";
  const failure = toHttpFailure(error);
  // OpenAI, Anthropic and Google answer 400 to requests that are invalid.
  const status = isBlocked ? blockedStatus : failure?.status === 422 ? 400 : (failure?.status ?? 500);
  return {
    status,
    type: status < 500 ? "invalid_request_error" : "api_error",
    code: isBlocked ? code : error instanceof GuardError ? error.code.toLowerCase() : "error",
    message: isBlocked ? error.message : (failure?.message ?? "guard could not check this call."),
  };
}
