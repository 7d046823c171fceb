import type { ErrorFormat } from "../format.ts";

/** The fields of an error in OpenAI's API. */
export interface OpenaiError {
  message: string;
  type: string;
  /** The invalid field of the request. */
  param?: string | null;
  code: string | null;
}

/** Creates the body of an error of OpenAI's API: https://platform.openai.com/docs/guides/error-codes. */
export function openaiErrorBody({ message, type, param = null, code }: OpenaiError): Record<string, unknown> {
  return { error: { message, type, param, code } };
}

/** The error format of OpenAI's API. */
export const openaiErrors: ErrorFormat = {
  blockedStatus: 400,
  body: ({ message, type, code }) => openaiErrorBody({ message, type, code }),
};
