import type { ChatRequest } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";

/** A tool call in an answer of a model, in the shape of OpenAI's chat completions. */
export interface AnsweredToolCall {
  id?: string;
  type: "function";
  function: {
    name: string;
    /** The arguments as the model wrote them, which should be JSON. */
    arguments: string;
  };
}

/** The texts of a conversation, and the way back from changed texts to messages. */
export interface Conversation {
  /** All texts: those of `system` first, then those of `tools`, then those of the messages, with the oldest first. */
  readonly texts: readonly MessageText[];
  /** How many messages there are. */
  readonly size: number;
  /**
   * Returns a copy of the request in which texts are replaced. JSON stays JSON. What has no replacement stays as it is.
   *
   * @param replacements the new strings of texts, one for each of their pieces.
   */
  rewritten(replacements: ReadonlyMap<MessageText, readonly string[]>): ChatRequest;
}
