import { type ErrorCode, GuardError, GuardValidationError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";

/**
 * What a problem of a guard server means for its caller, by status. Every other reply that is no success says only that the server
 * could not be asked.
 */
const CODES: Record<number, { code: ErrorCode; message: string }> = {
  413: { code: "GUARD_TOO_LARGE", message: "The text is larger than the guard server takes" },
  429: { code: "GUARD_OVERLOADED", message: "The guard server takes no more calls for now" },
  503: { code: "GUARD_OVERLOADED", message: "The guard server cannot scan now" },
  504: { code: "GUARD_TIMEOUT", message: "The scan took longer than the guard server allows" },
};

/** The most characters of a sentence of a server that an error repeats. */
const MOST_DETAIL = 200;

/** The error of a guard that could not be asked, or whose reply makes no sense. `reason` quotes no text. */
export function unreachable(reason: string, cause?: unknown): GuardError {
  return new GuardError("GUARD_UNREACHABLE", `The guard server ${reason}.`, cause === undefined ? {} : { cause });
}

/**
 * The error that a problem (RFC 9457) of a guard server stands for.
 *
 * @param body the parsed body; undefined when it is no problem.
 */
export function problemError(status: number, body: unknown): GuardError {
  if (status === 401 || status === 403) return unreachable(`does not accept the credential (${status})`);
  if (!isRecord(body)) return unreachable(`answered ${status}`);
  if (status === 422) return invalid(body);
  const known = CODES[status];
  return known ? new GuardError(known.code, `${known.message} (${status}).`) : unreachable(`answered ${status}`);
}

function invalid({ errors }: Record<string, unknown>): GuardError {
  const issues = (Array.isArray(errors) ? errors : []).filter(isRecord).map(({ pointer, detail }) => ({
    path: typeof pointer === "string" ? pathOf(pointer) : "",
    message: typeof detail === "string" ? detail.slice(0, MOST_DETAIL) : "is wrong",
  }));
  return new GuardValidationError(
    issues.length > 0 ? issues : [{ path: "", message: "the guard server does not take the shape of the request" }],
  );
}

/** The path with points of a JSON pointer (RFC 6901): `/messages/0/role` is `messages.0.role`. */
function pathOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}
