import type { Source } from "./source.ts";

/** A text of a conversation that is scanned as one: its strings, joined by line breaks. */
export interface MessageText {
  source: Source;
  /** The index of the message. It is absent for texts beside the messages: tools and `system`. */
  message?: number;
  /** Where the content stands: `messages/5/content`, `messages/5/tool_calls/0`, `tools/2`, `system`. */
  path: string;
  /** The strings of {@link pieces}, joined by a line break. */
  text: string;
  pieces: readonly TextPiece[];
  /** The number of parts that cannot be read, such as images. */
  skipped: number;
  /**
   * Whether this is not the content itself but something beside it, such as the name of its author. It is scanned, but it is not the
   * prompt, and it is not part of the window.
   */
  isBeside?: boolean;
  /** The call whose arguments these are, where the source is `tool_call`. */
  toolCall?: ToolCall;
  /** The definition, where the source is `tool_definition`. */
  toolDefinition?: ToolDefinition;
  /** The name of the tool whose result this is, where the source is `tool` and the conversation says it. */
  toolName?: string;
}

/** One string of a {@link MessageText}: a part of a message, or a string inside JSON. */
export interface TextPiece {
  /** The range of the string in {@link MessageText.text}, in UTF-16 code units. */
  start: number;
  end: number;
  /**
   * Where the string stands: keys and indexes with `/` between them, and behind an arrow the place of the string inside a text that is
   * JSON: `messages/5/content → results[2].description`.
   */
  path: string;
}

/** A call of a tool that the model asked for. */
export interface ToolCall {
  name: string;
  /** Matches the result to the call. */
  id?: string;
  /** The arguments: the parsed JSON, or the text itself where it is no JSON. */
  arguments: unknown;
}

/** A tool that is offered to the model. */
export interface ToolDefinition {
  name: string;
  description?: string;
  /** The JSON Schema of the arguments. */
  schema?: unknown;
  /** The whole definition as it was given. */
  definition: Readonly<Record<string, unknown>>;
}
