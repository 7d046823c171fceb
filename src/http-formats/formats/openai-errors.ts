import type { ErrorShape } from "../format.ts";

/** What OpenAI says of an error. */
export interface OpenaiError {
  message: string;
  type: string;
  /** The field of the request that is at fault. */
  param?: string | null;
  code: string | null;
}

/** The body of an error of OpenAI's API (https://platform.openai.com/docs/guides/error-codes). */
export function openaiErrorBody({ message, type, param = null, code }: OpenaiError): Record<string, unknown> {
  return { error: { message, type, param, code } };
}

/** Errors as OpenAI's API writes them. */
export const openaiErrors: ErrorShape = {
  body: ({ message, type, code }) => openaiErrorBody({ message, type, code }),
};
