import type { LanguageModelV3FilePart, LanguageModelV3Message, LanguageModelV3ToolResultPart } from "@ai-sdk/provider";
import type { ContentPart, Message } from "../../scan/chat-request.ts";
import { base64Of, filePart, opaquePart } from "../parts/files.ts";
import { mapItems, parseOrText, shapeError, withField } from "../parts/write-back.ts";

/** Messages in the format of guard. */
export type Chat = Message[];

type Content = Exclude<LanguageModelV3Message["content"], string>[number];
type Output = LanguageModelV3ToolResultPart["output"];
type OutputItem = Extract<Output, { type: "content" }>["value"][number];

/** A message of the AI SDK in the format of guard, and the conversion back. */
export interface MessageAdapter {
  /** One message, or one for each tool result. */
  chat: Chat;
  withTexts(chat: Chat): LanguageModelV3Message;
}

/** Converts a message of a prompt. */
export function adaptMessage(message: LanguageModelV3Message): MessageAdapter {
  if (message.role === "system") {
    const { role, content } = message;
    return { chat: [{ role, content }], withTexts: (chat) => withField(message, "content", single(chat).content) };
  }
  if (message.role === "tool") return adaptToolMessage(message);
  const parts = message.content.map(adaptPart);
  return {
    chat: [{ role: message.role, content: parts.map(({ part }) => part) }],
    withTexts(chat) {
      const checked = partsOf(single(chat).content, parts.length);
      const content = mapItems<Content>(message.content, (_, index) =>
        (parts[index] as PartAdapter).withTexts(checked[index] as ContentPart),
      );
      return withField(message, "content", content);
    },
  };
}

/** A part of a message in the format of guard, and the conversion back. */
interface PartAdapter {
  part: ContentPart;
  withTexts(part: ContentPart): Content;
}

function adaptPart(part: Content): PartAdapter {
  switch (part.type) {
    case "text":
      return { part: { type: "text", text: part.text }, withTexts: ({ text }) => withField(part, "text", text) };
    case "reasoning":
      return {
        part: { type: "reasoning_text", text: part.text },
        withTexts: ({ text }) => withField(part, "text", text),
      };
    case "file":
      return adaptFile(part);
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      // The input may be a string instead of an object. It is checked as a text.
      return { part: { type: "tool_use", id, name, input }, withTexts: ({ input }) => withInput(part, input) };
    }
    case "tool-result": {
      const { toolCallId, output } = part;
      return {
        part: { type: "tool_result", tool_use_id: toolCallId, content: contentOf(output) },
        withTexts: ({ content }) => withField(part, "output", outputFrom(output, content as Message["content"])),
      };
    }
    default:
      return { part: opaquePart(), withTexts: () => part };
  }
}

/** Replaces the arguments of a call. Their type may change, since placeholders can replace numbers. */
function withInput<Part extends { input: unknown }>(part: Part, input: unknown): Part {
  return input === part.input ? part : { ...part, input };
}

function adaptFile(part: LanguageModelV3FilePart): PartAdapter {
  const { data, mediaType, filename } = part;
  const read = data instanceof URL ? opaquePart(filename) : filePart(data, mediaType, filename);
  const before = base64Of(read);
  return {
    part: read,
    withTexts(checked) {
      const base64 = base64Of(checked);
      if (base64 === before || base64 === undefined) return part;
      return { ...part, data: typeof data === "string" ? base64 : Buffer.from(base64, "base64") };
    },
  };
}

type ToolMessage = Extract<LanguageModelV3Message, { role: "tool" }>;

function adaptToolMessage(message: ToolMessage): MessageAdapter {
  const read = message.content.map((part): Message | undefined => {
    if (part.type === "tool-result") {
      const { toolCallId, toolName, output } = part;
      return { role: "tool", tool_call_id: toolCallId, name: toolName, content: contentOf(output) };
    }
    // The reason for which the user rejects a tool call.
    return part.reason === undefined ? undefined : { role: "user", content: part.reason };
  });
  const chat = read.filter((item) => item !== undefined);
  return {
    chat,
    withTexts(checked) {
      if (checked.length !== chat.length) throw shapeError();
      const rest = [...checked];
      const content = mapItems(message.content, (part, index) => {
        if (!read[index]) return part;
        const { content } = rest.shift() as Message;
        if (part.type === "tool-result") return withField(part, "output", outputFrom(part.output, content));
        return withField(part, "reason", content);
      });
      return withField(message, "content", content);
    },
  };
}

/** A tool result in the format of guard. */
function contentOf(output: Output): string | ContentPart[] {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return jsonOf(output.value);
    case "execution-denied":
      return output.reason ?? "";
    case "content":
      return output.value.map(partOfItem);
    default:
      return [opaquePart()];
  }
}

function outputFrom(output: Output, content: Message["content"]): Output {
  switch (output.type) {
    case "text":
    case "error-text":
      return withField(output, "value", content);
    case "json":
    case "error-json": {
      if (typeof content !== "string") throw shapeError();
      if (content === jsonOf(output.value)) return output;
      return { ...output, value: parseOrText(content) } as Output;
    }
    case "execution-denied":
      return output.reason === undefined ? output : withField(output, "reason", content);
    case "content": {
      const parts = partsOf(content, output.value.length);
      const value = mapItems(output.value, (item, index) => itemFrom(item, parts[index] as ContentPart));
      return withField(output, "value", value);
    }
    default:
      return output;
  }
}

/** JSON of a value; empty for undefined, which tools may return. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function partOfItem(item: OutputItem): ContentPart {
  if (item.type === "text") return { type: "text", text: item.text };
  if (item.type === "file-data" || item.type === "image-data") {
    return filePart(item.data, item.mediaType, "filename" in item ? item.filename : undefined);
  }
  return opaquePart();
}

function itemFrom(item: OutputItem, part: ContentPart): OutputItem {
  if (item.type === "text") return withField(item, "text", part.text);
  const base64 = base64Of(part);
  if ((item.type !== "file-data" && item.type !== "image-data") || base64 === undefined) return item;
  return withField(item, "data", base64);
}

function single(chat: Chat): Message {
  const [message] = chat;
  if (!message) throw shapeError();
  return message;
}

function partsOf(content: Message["content"], length: number): readonly ContentPart[] {
  if (!Array.isArray(content) || content.length !== length) throw shapeError();
  return content;
}
