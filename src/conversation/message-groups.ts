import type { Conversation } from "../messages/conversation.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { SOURCES, type Source } from "../scan/source.ts";

/** A tool result and the number of user messages after it. */
export interface AgedToolResult {
  message: MessageText;
  text: string;
  age: number;
}

/** The texts of a conversation, grouped by whether the model has already answered them. */
export interface MessageGroups {
  /** The latest user message, if there is one. */
  prompt: MessageText | undefined;
  /** All user messages, oldest first. */
  userMessages: MessageText[];
  /** All tool results, oldest first. */
  toolResults: AgedToolResult[];
  /** The number of user messages that the model has not answered. The latest one always counts. */
  unansweredCount: number;
  /** The texts that the model is about to read for the first time, by source. */
  new: Record<Source, MessageText[]>;
  /** Earlier user messages and tool results, which the model has answered and reads again. */
  history: MessageText[];
  /** Tool calls of earlier turns. They have been judged, but values in them must still be rewritten. */
  pastToolCalls: MessageText[];
}

/**
 * Groups the texts of a conversation.
 *
 * User messages are new after the last assistant message, and the latest user message is always new. Tool results are new from the latest
 * user message on, and after the last assistant message. Tool calls are new from the last assistant message on, and after the latest
 * user message. Texts of any other source are always new, because nothing answers them.
 */
export function groupMessages({ texts }: Conversation): MessageGroups {
  const userMessages = texts.filter(isUserMessage);
  const prompt = userMessages.at(-1);
  const lastUser = prompt?.message ?? -1;
  const lastAssistant =
    texts.findLast(({ source, message }) => message !== undefined && (source === "assistant" || source === "tool_call"))
      ?.message ?? -1;
  const isNew = ({ source, message }: MessageText): boolean => {
    // A text outside the messages is never answered.
    if (message === undefined) return true;
    if (source === "user") return message > lastAssistant || message === lastUser;
    if (source === "tool") return message > lastAssistant || message >= lastUser;
    if (source === "tool_call") return message >= lastAssistant || message > lastUser;
    return true;
  };
  const groups: MessageGroups = {
    prompt,
    userMessages,
    toolResults: agedToolResults(texts, userMessages),
    unansweredCount: userMessages.filter(isNew).length,
    new: Object.fromEntries(SOURCES.map((source) => [source, [] as MessageText[]])) as Record<Source, MessageText[]>,
    history: [],
    pastToolCalls: [],
  };
  for (const text of texts) {
    if (isNew(text)) groups.new[text.source].push(text);
    else if (text.source === "tool_call") groups.pastToolCalls.push(text);
    else groups.history.push(text);
  }
  return groups;
}

function agedToolResults(texts: readonly MessageText[], userMessages: readonly MessageText[]): AgedToolResult[] {
  let earlier = 0;
  return texts
    .filter(({ source }) => source === "tool")
    .map((message) => {
      while ((userMessages[earlier]?.message ?? Number.POSITIVE_INFINITY) <= (message.message ?? -1)) earlier += 1;
      return { message, text: message.text, age: userMessages.length - earlier };
    });
}

function isUserMessage({ source, isBeside }: MessageText): boolean {
  return source === "user" && !isBeside;
}
