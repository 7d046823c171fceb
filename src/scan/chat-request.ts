/** A request to a model: the messages, the tools and the system prompt. */
export interface ChatRequest {
  /** The messages, oldest first. */
  messages: readonly Message[];
  /** The definitions of tools, in the format of OpenAI (chat or Responses), Anthropic, Google or MCP. */
  tools?: readonly Record<string, unknown>[] | null | undefined;
  /** Anthropic's `system` or the `instructions` of OpenAI's Responses API. */
  system?: string | readonly ContentPart[] | null | undefined;
  /**
   * The other fields of the request by name, such as `response_format` and `prediction`. Unknown fields are read if they may contain
   * instructions.
   */
  fields?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * A message of a chat: of OpenAI's chat completions (`role` and `content`), of Anthropic's messages, of MCP prompts, or an item of
 * OpenAI's Responses API (`type` without `role`, such as `function_call`).
 */
export interface Message {
  role?: string;
  content?: string | readonly ContentPart[] | ContentPart | null | undefined;
  [key: string]: unknown;
}

/** A part of the content of a message, in the format of any of the supported APIs. */
export interface ContentPart {
  type: string;
  text?: string;
  [key: string]: unknown;
}
