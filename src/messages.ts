import { GuardValidationError } from "./errors.ts";

/** A part of the content of a message. Only text parts and tool results are read; all other parts are skipped. */
export interface ContentPart {
  type: string;
  text?: string;
  /** The content of an Anthropic `tool_result` block. */
  content?: string | readonly ContentPart[] | null;
  [key: string]: unknown;
}

/** A message of a chat, in the format of OpenAI's chat completions or of Anthropic's messages. */
export interface Message {
  role: string;
  content?: string | readonly ContentPart[] | null | undefined;
  [key: string]: unknown;
}

/** The roles of OpenAI's chat format, which include those of Anthropic's format. */
export const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

/** The parts of a conversation that are scanned. */
export interface Conversation {
  /** The texts of all user messages, with the oldest first. */
  userTexts: string[];
  /**
   * The texts of the tool and function results that the model is about to read, which are those that come with or after the latest
   * user message.
   */
  toolTexts: string[];
  /** The number of parts that are neither text nor a tool result, counted over the user messages that are scanned. */
  partsSkipped: number;
  /** The number of parts of `toolTexts` that are not text. */
  toolPartsSkipped: number;
}

/**
 * Extracts the texts from the messages of a chat, which are given with the oldest first.
 *
 * Text parts of one message are joined by a line break. `tool_result` blocks in a user message (Anthropic) are tool results; a user
 * message that contains only such blocks does not count as a user message.
 *
 * @throws GuardValidationError for an empty list, for an unknown role and for content that has another shape.
 */
export function readMessages(messages: readonly Message[]): Conversation {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new GuardValidationError([{ path: "messages", message: "expected an array of at least one message" }]);
  }
  const conversation: Conversation = { userTexts: [], toolTexts: [], partsSkipped: 0, toolPartsSkipped: 0 };
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      throw new GuardValidationError([{ path, message: "expected an object with role and content" }]);
    }
    if (!(ROLES as readonly string[]).includes(message.role)) {
      throw new GuardValidationError([{ path: `${path}.role`, message: `expected one of ${ROLES.join(", ")}` }]);
    }
    const { text, toolResults, skipped, skippedInResults, onlyToolResults } = readContent(
      message.content,
      `${path}.content`,
    );
    if (message.role === "user" && !onlyToolResults) {
      conversation.userTexts.push(text);
      conversation.toolTexts = [];
      conversation.partsSkipped = 0;
      conversation.toolPartsSkipped = 0;
    }
    if (message.role === "tool" || message.role === "function") {
      conversation.toolTexts.push(together(text, toolResults));
      conversation.toolPartsSkipped += skipped + skippedInResults;
    }
    if (message.role === "user") {
      conversation.toolTexts.push(...toolResults);
      conversation.partsSkipped += skipped;
      conversation.toolPartsSkipped += skippedInResults;
    }
  }
  return conversation;
}

/** How deep tool results may be nested in each other. Anthropic's format does not nest them at all. */
const MOST_NESTED = 8;

interface Content {
  text: string;
  toolResults: string[];
  /** The number of parts that were not read. */
  skipped: number;
  /** The number of parts in tool results that were not read. */
  skippedInResults: number;
  onlyToolResults: boolean;
}

/** Joins a text and the tool results of the same message into one text. */
function together(text: string, toolResults: readonly string[]): string {
  return [text, ...toolResults].filter((part) => part !== "").join("\n");
}

function readContent(content: Message["content"], path: string, depth = 0): Content {
  if (typeof content === "string" || content === null || content === undefined) {
    return { text: content ?? "", toolResults: [], skipped: 0, skippedInResults: 0, onlyToolResults: false };
  }
  if (!Array.isArray(content)) {
    throw new GuardValidationError([{ path, message: "expected a string, null or an array of parts" }]);
  }
  if (depth > MOST_NESTED) {
    throw new GuardValidationError([{ path, message: `expected no more than ${MOST_NESTED} nested tool results` }]);
  }
  const texts: string[] = [];
  const toolResults: string[] = [];
  let skipped = 0;
  let skippedInResults = 0;
  for (const [index, part] of content.entries()) {
    const at = `${path}.${index}`;
    if (typeof part === "string") {
      texts.push(part);
    } else if (typeof part !== "object" || part === null || typeof part.type !== "string") {
      throw new GuardValidationError([{ path: at, message: "expected a part with a type" }]);
    } else if (part.type === "tool_result") {
      const inner = readContent(part.content, `${at}.content`, depth + 1);
      toolResults.push(together(inner.text, inner.toolResults));
      skippedInResults += inner.skipped + inner.skippedInResults;
    } else if (typeof part.text === "string") {
      texts.push(part.text);
      // A part that holds more than its text counts as skipped, since only its text is read. The types `text` and `input_text` hold
      // nothing else.
      if (!part.type.endsWith("text")) skipped += 1;
    } else if (part.type === "text") {
      throw new GuardValidationError([{ path: `${at}.text`, message: "expected a string" }]);
    } else {
      skipped += 1;
    }
  }
  const onlyToolResults = toolResults.length > 0 && texts.length === 0 && skipped === 0;
  return { text: texts.join("\n"), toolResults, skipped, skippedInResults, onlyToolResults };
}
