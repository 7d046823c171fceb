import type { Source } from "./source.ts";

/** A text of a conversation. Its strings are scanned together, joined by line breaks. */
export interface MessageText {
  source: Source;
  /** The index of the message. Absent for texts outside the messages: tools and `system`. */
  message?: number;
  /** The path of the content: `messages/5/content`, `messages/5/tool_calls/0`, `tools/2`, `system`. */
  path: string;
  /** The strings of {@link pieces}, joined by a line break. */
  text: string;
  pieces: readonly TextPiece[];
  /** The number of parts that cannot be read, such as images. */
  skipped: number;
  /**
   * Whether this text is beside the content of a message, such as the name of its author. It is scanned, but belongs neither to the prompt
   * nor to the window.
   */
  isBeside?: boolean;
  /** The call with these arguments, if the source is `tool_call`. */
  toolCall?: ToolCall;
  /** The definition, if the source is `tool_definition`. */
  toolDefinition?: ToolDefinition;
  /** The name of the tool that returned this result, if the source is `tool` and the conversation has the name. */
  toolName?: string;
}

/** One string of a {@link MessageText}: a part of a message, or a string inside JSON. */
export interface TextPiece {
  /** The range of the string in {@link MessageText.text}, in UTF-16 code units. */
  start: number;
  end: number;
  /**
   * The path of the string: keys and indexes separated by `/`. For a string inside JSON, an arrow and its path in the JSON follow:
   * `messages/5/content → results[2].description`.
   */
  path: string;
}

/** A tool call of the model. */
export interface ToolCall {
  name: string;
  /** The id, by which the result refers to the call. */
  id?: string;
  /** The arguments: the parsed JSON, or the text if it is not JSON. */
  arguments: unknown;
}

/** A tool that is offered to the model. */
export interface ToolDefinition {
  name: string;
  description?: string;
  /** The JSON Schema of the arguments. */
  schema?: unknown;
  /** The original definition. */
  definition: Readonly<Record<string, unknown>>;
}
