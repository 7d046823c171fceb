import type { WireError } from "../errors.ts";
import type { ErrorShape } from "../format.ts";

/** Errors as Anthropic's API writes them (https://docs.anthropic.com/en/api/errors). */
export const anthropicErrors: ErrorShape = {
  body: ({ message, type }: WireError) => ({ type: "error", error: { type, message } }),
};
