import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { ROLES } from "../../messages/chat-messages.ts";
import type { ContentPart, Message } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { mapped, otherShape } from "../parts/back.ts";
import { base64Of, filePart, unreadPart } from "../parts/files.ts";
import { type Block, SAID_BESIDE, withoutWritten } from "./answer.ts";
import { cloneWith } from "./clone.ts";

/** A message of LangChain as guard reads it, and the way back. */
export interface ReadMessage {
  chat: Message;
  back(chat: Message): BaseMessage;
}

/** The roles of the types of LangChain's messages that are called otherwise. */
const ROLE_OF_TYPE: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** Reads a message. */
export function readMessage(message: BaseMessage): ReadMessage {
  const content = readContent(message.content);
  const beside = message.type === "ai" ? readBeside(message as AIMessage) : undefined;
  const chat: Message = {
    role: roleOf(message),
    content: content.chat,
    ...(message.name !== undefined && { name: message.name }),
    ...(message.type === "tool" && { tool_call_id: (message as ToolMessage).tool_call_id }),
    ...beside?.chat,
  };
  return {
    chat,
    back(checked) {
      const changes = { ...beside?.back(checked) };
      const after = content.back(checked.content);
      if (after !== message.content) Object.assign(changes, { content: after });
      return Object.keys(changes).length === 0 ? message : cloneWith(message, changes);
    },
  };
}

function roleOf(message: BaseMessage): string {
  const role = "role" in message && typeof message.role === "string" ? message.role : message.type;
  const known = ROLE_OF_TYPE[role] ?? role;
  // Whoever speaks in a role of the caller's own is no more trusted than a user.
  return ROLES.some((name) => name === known) ? known : "user";
}

type Content = BaseMessage["content"];

function readContent(content: Content): { chat: string | ContentPart[]; back(checked: Message["content"]): Content } {
  if (typeof content === "string") {
    return {
      chat: content,
      back(checked) {
        if (typeof checked !== "string") throw otherShape();
        return checked;
      },
    };
  }
  const blocks = content.map((block) => readBlock(block as Block));
  return {
    chat: blocks.map(({ part }) => part),
    back(checked) {
      if (!Array.isArray(checked) || checked.length !== blocks.length) throw otherShape();
      return mapped<Content[number]>(content, (_, index) => {
        return blocks[index]?.back(checked[index] as ContentPart) as Content[number];
      }) as Content;
    },
  };
}

interface ReadBlock {
  part: ContentPart;
  back(part: ContentPart): Block;
}

/** Types of blocks that have no text beside their bytes and the place where these are. */
const MEDIA = /^(?:image|image_url|input_image|image_file|video|media)$/;

function readBlock(block: Block): ReadBlock {
  if (MEDIA.test(block.type)) return { part: unreadPart(), back: () => block };
  if (block.type === "tool_call" || block.type === "server_tool_call") {
    const { id, name, args } = block;
    return {
      part: { type: "tool_use", id, name, input: args },
      back: ({ input }) => (input === args ? block : { ...block, args: input }),
    };
  }
  if (/^(?:file|audio|text-plain)$/.test(block.type) && (block.data !== undefined || block.url !== undefined)) {
    return readFile(block);
  }
  return { part: block, back: (part) => (part === block ? block : { ...block, ...part }) };
}

/** A file of LangChain: `{ data, mimeType }`, or before its version 1 `{ source_type, data, mime_type, metadata }`. */
function readFile(block: Block): ReadBlock {
  const { data, mimeType, mime_type: older, metadata } = block;
  const filename = isRecord(metadata) ? (metadata.filename ?? metadata.name ?? metadata.title) : undefined;
  const name = typeof filename === "string" ? filename : undefined;
  const type = [mimeType, older].find((type) => typeof type === "string") as string | undefined;
  const isHere = typeof data === "string" || data instanceof Uint8Array;
  const part = isHere ? filePart(data, type ?? "application/octet-stream", name) : unreadPart(name);
  const before = base64Of(part);
  return {
    part,
    back(checked) {
      const base64 = base64Of(checked);
      if (base64 === undefined || base64 === before) return block;
      return { ...block, data: typeof data === "string" ? base64 : Buffer.from(base64, "base64") };
    },
  };
}

type Call = Record<string, unknown>;

/** Reads the calls of tools, and what stands in the fields of providers. */
function readBeside(message: AIMessage): { chat: Partial<Message>; back(checked: Message): Partial<AIMessage> } {
  const { tool_calls: calls = [], invalid_tool_calls: invalid = [], additional_kwargs: kwargs } = message;
  const { response_metadata: metadata } = message;
  // The same calls as the provider wrote them.
  const raw = Array.isArray(kwargs.tool_calls) ? (kwargs.tool_calls as Call[]) : [];
  const ofCall = ({ id, name, args }: { id?: string; name?: string; args?: unknown }): Call => ({
    ...(id !== undefined && { id }),
    name: name ?? "",
    arguments: args ?? "",
  });
  const all = [...calls.map(ofCall), ...invalid.map(ofCall), ...raw];
  const said = SAID_BESIDE.filter((key) => kwargs[key] !== undefined && kwargs[key] !== null);
  const legacy = kwargs.function_call;
  const chat = {
    ...(all.length > 0 && { tool_calls: all }),
    ...(legacy !== undefined && { function_call: legacy }),
    ...Object.fromEntries(said.map((key) => [key, kwargs[key]])),
  };
  return {
    chat,
    back(checked) {
      const checkedCalls = [...((checked.tool_calls as Call[] | undefined) ?? [])];
      if (checkedCalls.length !== all.length) throw otherShape();
      const changes: Partial<AIMessage> = {};
      const withArgs = <Item extends { args?: unknown }>(items: Item[], from: Call[]) =>
        mapped(items, (item, index) => {
          const args = from[index]?.arguments;
          return args === (item.args ?? "") ? item : { ...item, args };
        }) as Item[];
      const newCalls = withArgs(calls, checkedCalls.splice(0, calls.length));
      const newInvalid = withArgs(invalid, checkedCalls.splice(0, invalid.length));
      if (newCalls !== calls) changes.tool_calls = newCalls;
      if (newInvalid !== invalid) changes.invalid_tool_calls = newInvalid;
      // The pieces of which the calls were made are needed no more.
      if (Object.keys(changes).length > 0 && "tool_call_chunks" in message) {
        Object.assign(changes, { tool_call_chunks: [] });
      }
      // Models of OpenAI send on what stands there in the place of the message.
      if (metadata.output !== undefined) changes.response_metadata = withoutWritten(metadata);
      const newKwargs: Record<string, unknown> = {};
      if (raw.some((call, index) => call !== checkedCalls[index])) newKwargs.tool_calls = checkedCalls;
      if (checked.function_call !== legacy) newKwargs.function_call = checked.function_call;
      for (const key of said) if (checked[key] !== kwargs[key]) newKwargs[key] = checked[key];
      if (Object.keys(newKwargs).length > 0) changes.additional_kwargs = { ...kwargs, ...newKwargs };
      return changes;
    },
  };
}
