import type { Conversation } from "../messages/conversation.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { SOURCES, type Source } from "../scan/source.ts";

/** Which texts of a conversation are read as what. */
export interface Reading {
  /** The latest user message. It is absent when there is none. */
  prompt: MessageText | undefined;
  /** All user messages, with the oldest first. */
  messages: MessageText[];
  /** All tool results, with the number of user messages behind each. */
  toolResults: { of: MessageText; text: string; age: number }[];
  /** How many user messages the model has not answered yet; the latest one counts in any case. */
  unanswered: number;
  /** The texts that the model is about to read, by source. Of texts of users and tools these are those that it has not answered. */
  new: Record<Source, MessageText[]>;
  /** What users wrote and tools returned before that: the model has answered it, and reads it again. */
  history: MessageText[];
  /** The tool calls that the model made before that. They were judged then, but what they say must be rewritten as all else is. */
  pastCalls: MessageText[];
}

/**
 * Decides what is read as what.
 *
 * What users wrote is new behind the last message of the assistant, and the latest user message is new in any case. Tool results are
 * new with or behind the latest user message, and behind the last message of the assistant. Tool calls are new from the last message
 * of the assistant on, and behind the latest user message. Of all other sources every text is new: nothing that was said answers it.
 */
export function readingOf({ texts }: Conversation): Reading {
  const messages = texts.filter(isUserMessage);
  const prompt = messages.at(-1);
  const lastUser = prompt?.message ?? -1;
  const lastAssistant =
    texts.findLast(({ source, message }) => message !== undefined && (source === "assistant" || source === "tool_call"))
      ?.message ?? -1;
  const isNew = ({ source, message = -1 }: MessageText): boolean => {
    if (source === "user") return message > lastAssistant || message === lastUser;
    if (source === "tool") return message > lastAssistant || message >= lastUser;
    if (source === "tool_call") return message >= lastAssistant || message > lastUser;
    return true;
  };
  const reading: Reading = {
    prompt,
    messages,
    toolResults: agedResults(texts, messages),
    unanswered: messages.filter(isNew).length,
    new: Object.fromEntries(SOURCES.map((source) => [source, [] as MessageText[]])) as Record<Source, MessageText[]>,
    history: [],
    pastCalls: [],
  };
  for (const text of texts) {
    if (isNew(text)) reading.new[text.source].push(text);
    else if (text.source === "tool_call") reading.pastCalls.push(text);
    else reading.history.push(text);
  }
  return reading;
}

function agedResults(texts: readonly MessageText[], messages: readonly MessageText[]): Reading["toolResults"] {
  let passed = 0;
  return texts
    .filter(({ source }) => source === "tool")
    .map((of) => {
      while ((messages[passed]?.message ?? Number.POSITIVE_INFINITY) <= (of.message ?? -1)) passed += 1;
      return { of, text: of.text, age: messages.length - passed };
    });
}

function isUserMessage({ source, isBeside }: MessageText): boolean {
  return source === "user" && !isBeside;
}
