import type { ReplyError } from "../errors.ts";
import type { ErrorFormat } from "../format.ts";

/** The error format of Anthropic's API: https://docs.anthropic.com/en/api/errors. */
export const anthropicErrors: ErrorFormat = {
  blockedStatus: 400,
  body: ({ message, type }: ReplyError) => ({ type: "error", error: { type, message } }),
};
