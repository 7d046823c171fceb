import type { ReplyError } from "../errors.ts";
import type { ErrorFormat } from "../format.ts";

/** The types of errors by their status. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [529, "overloaded_error"],
]);

/** The error format of Anthropic's API: https://docs.anthropic.com/en/api/errors. */
export const anthropicErrors: ErrorFormat = {
  blockedStatus: 400,
  body: ({ message, type, status }: ReplyError) => ({
    type: "error",
    error: { type: TYPES.get(status) ?? type, message },
  }),
};
