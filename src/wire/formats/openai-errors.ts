import type { WireError } from "../errors.ts";
import type { ErrorShape } from "../format.ts";

/** Errors as OpenAI's API writes them (https://platform.openai.com/docs/guides/error-codes). */
export const openaiErrors: ErrorShape = {
  body: ({ message, type, code }: WireError) => ({ error: { message, type, param: null, code } }),
};
