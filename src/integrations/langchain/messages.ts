import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { ROLES } from "../../messages/chat-messages.ts";
import type { ContentPart, Message } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { base64Of, filePart, opaquePart } from "../parts/files.ts";
import { mapItems, shapeError } from "../parts/write-back.ts";
import { type Block, EXTRA_TEXT_FIELDS, withoutRawAnswer } from "./answer.ts";
import { cloneWith } from "./clone.ts";

/** A message of LangChain in the format of guard, and the conversion back. */
export interface MessageAdapter {
  chat: Message;
  withTexts(chat: Message): BaseMessage;
}

/** The roles of LangChain's message types, if their names differ. */
const ROLE_OF_TYPE: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** Converts a message. */
export function adaptMessage(message: BaseMessage): MessageAdapter {
  const content = adaptContent(message.content);
  const toolFields = message.type === "ai" ? adaptToolFields(message as AIMessage) : undefined;
  const chat: Message = {
    role: roleOf(message),
    content: content.chat,
    ...(message.name !== undefined && { name: message.name }),
    ...(message.type === "tool" && { tool_call_id: (message as ToolMessage).tool_call_id }),
    ...toolFields?.chat,
  };
  return {
    chat,
    withTexts(checked) {
      const changes = { ...toolFields?.withTexts(checked) };
      const after = content.withTexts(checked.content);
      if (after !== message.content) Object.assign(changes, { content: after });
      return Object.keys(changes).length === 0 ? message : cloneWith(message, changes);
    },
  };
}

function roleOf(message: BaseMessage): string {
  const role = "role" in message && typeof message.role === "string" ? message.role : message.type;
  const known = ROLE_OF_TYPE[role] ?? role;
  // Custom roles are trusted no more than a user.
  return ROLES.some((name) => name === known) ? known : "user";
}

type Content = BaseMessage["content"];

function adaptContent(content: Content): {
  chat: string | ContentPart[];
  withTexts(checked: Message["content"]): Content;
} {
  if (typeof content === "string") {
    return {
      chat: content,
      withTexts(checked) {
        if (typeof checked !== "string") throw shapeError();
        return checked;
      },
    };
  }
  const blocks = content.map((block) => adaptBlock(block as Block));
  return {
    chat: blocks.map(({ part }) => part),
    withTexts(checked) {
      if (!Array.isArray(checked) || checked.length !== blocks.length) throw shapeError();
      return mapItems<Content[number]>(content, (_, index) => {
        return blocks[index]?.withTexts(checked[index] as ContentPart) as Content[number];
      }) as Content;
    },
  };
}

interface BlockAdapter {
  part: ContentPart;
  withTexts(part: ContentPart): Block;
}

/** Types of blocks with data or a URL and without text. */
const MEDIA = /^(?:image|image_url|input_image|image_file|video|media)$/;

function adaptBlock(block: Block): BlockAdapter {
  if (MEDIA.test(block.type)) return { part: opaquePart(), withTexts: () => block };
  if (block.type === "tool_call" || block.type === "server_tool_call") {
    const { id, name, args } = block;
    return {
      part: { type: "tool_use", id, name, input: args },
      withTexts: ({ input }) => (input === args ? block : { ...block, args: input }),
    };
  }
  if (/^(?:file|audio|text-plain)$/.test(block.type) && (block.data !== undefined || block.url !== undefined)) {
    return adaptFile(block);
  }
  return { part: block, withTexts: (part) => (part === block ? block : { ...block, ...part }) };
}

/** A file of LangChain: `{ data, mimeType }`, or before its version 1 `{ source_type, data, mime_type, metadata }`. */
function adaptFile(block: Block): BlockAdapter {
  const { data, mimeType, mime_type: older, metadata } = block;
  const filename = isRecord(metadata) ? (metadata.filename ?? metadata.name ?? metadata.title) : undefined;
  const name = typeof filename === "string" ? filename : undefined;
  const type = [mimeType, older].find((type) => typeof type === "string") as string | undefined;
  const isHere = typeof data === "string" || data instanceof Uint8Array;
  const part = isHere ? filePart(data, type ?? "application/octet-stream", name) : opaquePart(name);
  const before = base64Of(part);
  return {
    part,
    withTexts(checked) {
      const base64 = base64Of(checked);
      if (base64 === undefined || base64 === before) return block;
      return { ...block, data: typeof data === "string" ? base64 : Buffer.from(base64, "base64") };
    },
  };
}

type Call = Record<string, unknown>;

/** Converts the tool calls and the texts in fields of providers. */
function adaptToolFields(message: AIMessage): {
  chat: Partial<Message>;
  withTexts(checked: Message): Partial<AIMessage>;
} {
  const { tool_calls: calls = [], invalid_tool_calls: invalid = [], additional_kwargs: kwargs } = message;
  const { response_metadata: metadata } = message;
  // The same calls in the format of the provider.
  const raw = Array.isArray(kwargs.tool_calls) ? (kwargs.tool_calls as Call[]) : [];
  const ofCall = ({ id, name, args }: { id?: string; name?: string; args?: unknown }): Call => ({
    ...(id !== undefined && { id }),
    name: name ?? "",
    arguments: args ?? "",
  });
  const all = [...calls.map(ofCall), ...invalid.map(ofCall), ...raw];
  const textFields = EXTRA_TEXT_FIELDS.filter((key) => kwargs[key] !== undefined && kwargs[key] !== null);
  const legacy = kwargs.function_call;
  const chat = {
    ...(all.length > 0 && { tool_calls: all }),
    ...(legacy !== undefined && { function_call: legacy }),
    ...Object.fromEntries(textFields.map((key) => [key, kwargs[key]])),
  };
  return {
    chat,
    withTexts(checked) {
      const checkedCalls = [...((checked.tool_calls as Call[] | undefined) ?? [])];
      if (checkedCalls.length !== all.length) throw shapeError();
      const changes: Partial<AIMessage> = {};
      const withArgs = <Item extends { args?: unknown }>(items: Item[], from: Call[]) =>
        mapItems(items, (item, index) => {
          const args = from[index]?.arguments;
          return args === (item.args ?? "") ? item : { ...item, args };
        }) as Item[];
      const newCalls = withArgs(calls, checkedCalls.splice(0, calls.length));
      const newInvalid = withArgs(invalid, checkedCalls.splice(0, invalid.length));
      if (newCalls !== calls) changes.tool_calls = newCalls;
      if (newInvalid !== invalid) changes.invalid_tool_calls = newInvalid;
      // The chunks of the old calls are removed.
      if (Object.keys(changes).length > 0 && "tool_call_chunks" in message) {
        Object.assign(changes, { tool_call_chunks: [] });
      }
      // Models of OpenAI send this field instead of the message.
      if (metadata.output !== undefined) changes.response_metadata = withoutRawAnswer(metadata);
      const newKwargs: Record<string, unknown> = {};
      if (raw.some((call, index) => call !== checkedCalls[index])) newKwargs.tool_calls = checkedCalls;
      if (checked.function_call !== legacy) newKwargs.function_call = checked.function_call;
      for (const key of textFields) if (checked[key] !== kwargs[key]) newKwargs[key] = checked[key];
      if (Object.keys(newKwargs).length > 0) changes.additional_kwargs = { ...kwargs, ...newKwargs };
      return changes;
    },
  };
}
