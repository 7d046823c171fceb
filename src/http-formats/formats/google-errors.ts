import type { ErrorFormat } from "../format.ts";

/** The names of statuses: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto. */
const STATUS_NAMES: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

/** The error format of Google's APIs: https://google.aip.dev/193. */
export const googleErrors: ErrorFormat = {
  blockedStatus: 403,
  body: ({ status, message }) => {
    const name = STATUS_NAMES.get(status) ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
    return { error: { code: status, message, status: name } };
  },
};
