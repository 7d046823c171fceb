import { type ErrorCode, GuardError, GuardValidationError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";

/**
 * The errors for problem replies of a guard server, by status. Every other error reply means that the server is unreachable.
 */
const CODES: Record<number, { code: ErrorCode; message: string }> = {
  413: { code: "GUARD_TOO_LARGE", message: "The text exceeds the limit of the guard server" },
  429: { code: "GUARD_OVERLOADED", message: "The guard server accepts no more calls for now" },
  503: { code: "GUARD_OVERLOADED", message: "The guard server cannot scan now" },
  504: { code: "GUARD_TIMEOUT", message: "The scan took longer than the guard server allows" },
};

/** The maximum length of a server's message in an error. */
const MAX_DETAIL_LENGTH = 200;

/** Creates the error of a guard server that cannot be reached or replies with nonsense. `reason` must not quote a text. */
export function unreachableError(reason: string, cause?: unknown): GuardError {
  return new GuardError("GUARD_UNREACHABLE", `The guard server ${reason}.`, cause === undefined ? {} : { cause });
}

/**
 * Converts a problem reply (RFC 9457) to an error.
 *
 * @param body the parsed body, or undefined if the reply is not a problem.
 */
export function problemError(status: number, body: unknown): GuardError {
  if (status === 401 || status === 403) return unreachableError(`does not accept the credential (${status})`);
  if (!isRecord(body)) return unreachableError(`answered with status ${status}`);
  if (status === 422) return toValidationError(body);
  const known = CODES[status];
  return known
    ? new GuardError(known.code, `${known.message} (${status}).`)
    : unreachableError(`answered with status ${status}`);
}

function toValidationError({ errors }: Record<string, unknown>): GuardError {
  const issues = (Array.isArray(errors) ? errors : []).filter(isRecord).map(({ pointer, detail }) => ({
    path: typeof pointer === "string" ? toPath(pointer) : "",
    message: typeof detail === "string" ? detail.slice(0, MAX_DETAIL_LENGTH) : "is invalid",
  }));
  return new GuardValidationError(
    issues.length > 0 ? issues : [{ path: "", message: "the guard server does not accept the format of the request" }],
  );
}

/** Converts a JSON pointer (RFC 6901) to a path with dots: `/messages/0/role` to `messages.0.role`. */
function toPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}
