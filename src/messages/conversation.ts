import type { ChatRequest } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";

/** A tool call in a model's answer, in the format of OpenAI's chat completions. */
export interface AnsweredToolCall {
  id?: string;
  type: "function";
  function: {
    name: string;
    /** The arguments, which should be JSON, as the model wrote them. */
    arguments: string;
  };
}

/** The texts of a conversation, with a method that writes changed texts back. */
export interface Conversation {
  /** All texts: of `system`, then of `tools`, then of `fields`, then of the messages, oldest first. */
  readonly texts: readonly MessageText[];
  /** Names of texts that the model reads but that are not in the request, such as `previous_response_id`. */
  readonly stateElsewhere: readonly string[];
  /** The number of messages. */
  readonly size: number;
  /**
   * Returns a copy of the request with texts replaced. JSON stays JSON, and other texts stay as they are.
   *
   * @param replacements the new strings of each text, one for each piece.
   */
  rewrite(replacements: ReadonlyMap<MessageText, readonly string[]>): ChatRequest;
}
