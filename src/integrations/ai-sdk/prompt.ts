import type { LanguageModelV3FilePart, LanguageModelV3Message, LanguageModelV3ToolResultPart } from "@ai-sdk/provider";
import type { ContentPart, Message } from "../../scan/chat-request.ts";
import { mapped, otherShape, parsed, withField } from "../parts/back.ts";
import { base64Of, filePart, unreadPart } from "../parts/files.ts";

/** Messages as guard reads them. */
export type Chat = Message[];

type Content = Exclude<LanguageModelV3Message["content"], string>[number];
type Output = LanguageModelV3ToolResultPart["output"];
type OutputItem = Extract<Output, { type: "content" }>["value"][number];

/** A message of the AI SDK as guard reads it, and the way back. */
export interface ReadMessage {
  /** One message; for one with results of tools, one for each of them. */
  chat: Chat;
  back(chat: Chat): LanguageModelV3Message;
}

/** Reads a message of a prompt. */
export function readMessage(message: LanguageModelV3Message): ReadMessage {
  if (message.role === "system") {
    const { role, content } = message;
    return { chat: [{ role, content }], back: (chat) => withField(message, "content", single(chat).content) };
  }
  if (message.role === "tool") return readToolMessage(message);
  const parts = message.content.map(readPart);
  return {
    chat: [{ role: message.role, content: parts.map(({ part }) => part) }],
    back(chat) {
      const checked = partsOf(single(chat).content, parts.length);
      const content = mapped<Content>(message.content, (_, index) =>
        (parts[index] as ReadPart).back(checked[index] as ContentPart),
      );
      return withField(message, "content", content);
    },
  };
}

/** A part of a message as guard reads it, and the way back. */
interface ReadPart {
  part: ContentPart;
  back(part: ContentPart): Content;
}

function readPart(part: Content): ReadPart {
  switch (part.type) {
    case "text":
      return { part: { type: "text", text: part.text }, back: ({ text }) => withField(part, "text", text) };
    case "reasoning":
      return { part: { type: "reasoning_text", text: part.text }, back: ({ text }) => withField(part, "text", text) };
    case "file":
      return readFile(part);
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      // A model may call a tool with what is no object. It is read as a text.
      return { part: { type: "tool_use", id, name, input }, back: ({ input }) => withInput(part, input) };
    }
    case "tool-result": {
      const { toolCallId, output } = part;
      return {
        part: { type: "tool_result", tool_use_id: toolCallId, content: contentOf(output) },
        back: ({ content }) => withField(part, "output", outputFrom(output, content as Message["content"])),
      };
    }
    default:
      return { part: unreadPart(), back: () => part };
  }
}

/** The arguments of a call may be of any type, which a placeholder in the place of a number changes. */
function withInput<Part extends { input: unknown }>(part: Part, input: unknown): Part {
  return input === part.input ? part : { ...part, input };
}

function readFile(part: LanguageModelV3FilePart): ReadPart {
  const { data, mediaType, filename } = part;
  const read = data instanceof URL ? unreadPart(filename) : filePart(data, mediaType, filename);
  const before = base64Of(read);
  return {
    part: read,
    back(checked) {
      const base64 = base64Of(checked);
      if (base64 === before || base64 === undefined) return part;
      return { ...part, data: typeof data === "string" ? base64 : Buffer.from(base64, "base64") };
    },
  };
}

type ToolMessage = Extract<LanguageModelV3Message, { role: "tool" }>;

function readToolMessage(message: ToolMessage): ReadMessage {
  const read = message.content.map((part): Message | undefined => {
    if (part.type === "tool-result") {
      const { toolCallId, toolName, output } = part;
      return { role: "tool", tool_call_id: toolCallId, name: toolName, content: contentOf(output) };
    }
    // The user says why a call of a tool is not approved.
    return part.reason === undefined ? undefined : { role: "user", content: part.reason };
  });
  const chat = read.filter((item) => item !== undefined);
  return {
    chat,
    back(checked) {
      if (checked.length !== chat.length) throw otherShape();
      const rest = [...checked];
      const content = mapped(message.content, (part, index) => {
        if (!read[index]) return part;
        const { content } = rest.shift() as Message;
        if (part.type === "tool-result") return withField(part, "output", outputFrom(part.output, content));
        return withField(part, "reason", content);
      });
      return withField(message, "content", content);
    },
  };
}

/** The result of a tool as guard reads it. */
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
      return [unreadPart()];
  }
}

function outputFrom(output: Output, content: Message["content"]): Output {
  switch (output.type) {
    case "text":
    case "error-text":
      return withField(output, "value", content);
    case "json":
    case "error-json": {
      if (typeof content !== "string") throw otherShape();
      if (content === jsonOf(output.value)) return output;
      return { ...output, value: parsed(content) } as Output;
    }
    case "execution-denied":
      return output.reason === undefined ? output : withField(output, "reason", content);
    case "content": {
      const parts = partsOf(content, output.value.length);
      const value = mapped(output.value, (item, index) => itemFrom(item, parts[index] as ContentPart));
      return withField(output, "value", value);
    }
    default:
      return output;
  }
}

/** A tool that returns nothing has no JSON. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function partOfItem(item: OutputItem): ContentPart {
  if (item.type === "text") return { type: "text", text: item.text };
  if (item.type === "file-data" || item.type === "image-data") {
    return filePart(item.data, item.mediaType, "filename" in item ? item.filename : undefined);
  }
  return unreadPart();
}

function itemFrom(item: OutputItem, part: ContentPart): OutputItem {
  if (item.type === "text") return withField(item, "text", part.text);
  const base64 = base64Of(part);
  if ((item.type !== "file-data" && item.type !== "image-data") || base64 === undefined) return item;
  return withField(item, "data", base64);
}

function single(chat: Chat): Message {
  const [message] = chat;
  if (!message) throw otherShape();
  return message;
}

function partsOf(content: Message["content"], length: number): readonly ContentPart[] {
  if (!Array.isArray(content) || content.length !== length) throw otherShape();
  return content;
}
