import { isPhrase } from "../messages/text-checks.ts";
import type { MessageText, ToolCall, ToolDefinition } from "../scan/conversation-text.ts";
import type { Source } from "../scan/source.ts";
import { isRecord } from "../support/is-record.ts";
import { SlotReader } from "./slots.ts";

/** A part of a message that is scanned as one text. {@link write} changes the message in place, so pass a copy to the readers. */
export interface Part {
  text: MessageText;
  /** Writes strings into the message, one for each piece of the text. @returns false if one of them cannot be replaced. */
  write(strings: readonly string[]): boolean;
}

type Shape = Record<string, unknown>;

/** Keys of content, resources and definitions whose values a model does not see: data, types, and metadata for programs. */
const NON_TEXT_KEYS = new Set([
  "_meta",
  "type",
  "data",
  "blob",
  "mimeType",
  "annotations",
  "icons",
  "size",
  "execution",
]);

/** Keys whose values are words for programs. They are read where they may contain an instruction. */
const NAME_KEYS: Readonly<Record<string, (value: string) => boolean>> = {
  mimeType: (type) => type.length > 100 || !/^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w-]+="?[\w.-]+"?)*$/.test(type),
  annotations: isPhrase,
  size: isPhrase,
  execution: isPhrase,
  nextCursor: isPhrase,
  resultType: isPhrase,
  requestState: isPhrase,
};

/** The types of blocks that contain nothing but strings. */
const TEXT_BLOCKS = new Set(["text", "resource", "resource_link", "tool_use", "tool_result"]);

/** The values of `type` and `$schema` in a JSON Schema, which say nothing about the tool. */
const SCHEMA_WORDS = /^(string|number|integer|boolean|object|array|null|https?:\/\/json-schema\.org\/.*)$/;

/** Keys of results with metadata for programs, and those that are read separately. */
const NON_RESULT_KEYS = new Set([
  "_meta",
  "isError",
  "resultType",
  "nextCursor",
  "requestState",
  "inputRequests",
  "content",
]);

/** Reads the result of a tool: content, structured content and all other fields. */
export function toolResult(result: Shape, toolName?: string): Part | undefined {
  const reader = new PartReader();
  reader.blocks(result, "content", "result/content");
  reader.others(result, NON_RESULT_KEYS, "result");
  return reader.part("tool", "result", toolName === undefined ? {} : { toolName });
}

/** Reads the messages and the description of a prompt. Like definitions of tools, they are instructions to a model. */
export function promptResult(result: Shape): Part | undefined {
  const reader = new PartReader();
  reader.messages(result, "messages", "result/messages");
  reader.others(result, new Set([...NON_RESULT_KEYS, "messages"]), "result");
  return reader.part("tool_definition", "result");
}

/** Reads the contents of a resource. */
export function resourceResult(result: Shape): Part | undefined {
  const reader = new PartReader();
  for (const [index, item] of list(result.contents).entries()) reader.resource(item, `result/contents/${index}`);
  reader.others(result, new Set([...NON_RESULT_KEYS, "contents", "ttlMs", "cacheScope"]), "result");
  return reader.part("tool", "result");
}

/** Reads the status messages of tasks. */
export function taskResult(result: Shape): Part | undefined {
  const reader = new PartReader();
  const tasks = [result, result.task, ...list(result.tasks)].filter(isRecord);
  for (const task of tasks) reader.read(task, "statusMessage", "result/statusMessage");
  return reader.part("tool", "result");
}

/** Reads the message and the data of an error. */
export function errorText(error: object): Part | undefined {
  const reader = new PartReader();
  reader.read(error, "message", "error/message");
  reader.read(error, "data", "error/data");
  return reader.part("tool", "error");
}

/** Reads another text of the server, such as its instructions. */
export function plainText(holder: Shape, key: string, path: string): Part | undefined {
  const reader = new PartReader();
  reader.read(holder, key, path);
  return reader.part("tool_definition", path);
}

/** Reads a name of the server for programs, such as a cursor, if it may contain an instruction. */
export function plainName(holder: Shape, key: string, path: string): Part | undefined {
  const value = holder[key];
  return typeof value === "string" && isPhrase(value) ? plainText(holder, key, path) : undefined;
}

/** Reads the definition of a tool. */
export function toolDefinition(definition: Shape, path: string): Part | undefined {
  const { name, description, inputSchema: schema } = definition;
  return definitionPart(definition, path, {
    toolDefinition: {
      name: typeof name === "string" ? name : "",
      ...(typeof description === "string" ? { description } : {}),
      ...(schema === undefined ? {} : { schema }),
      definition: structuredClone(definition),
    },
  });
}

/** Reads the entry of a prompt, a resource or a template in a list. */
export function listEntry(entry: Shape, path: string): Part | undefined {
  return definitionPart(entry, path);
}

function definitionPart(entry: Shape, path: string, more: ExtraFields = {}): Part | undefined {
  const reader = new PartReader();
  reader.others(entry, NON_TEXT_KEYS, path);
  if (isRecord(entry.annotations)) reader.read(entry.annotations, "title", `${path}/annotations/title`);
  return reader.part("tool_definition", path, more, ({ text }) => !SCHEMA_WORDS.test(text));
}

/** Reads the arguments of a client's request. */
export function callArguments(params: Shape, toolCall?: ToolCall): Part | undefined {
  const reader = new PartReader();
  for (const key of ["arguments", "uri", "argument", "context", "inputResponses"]) {
    reader.read(params, key, `params/${key}`);
  }
  return reader.part("tool_call", "params", toolCall ? { toolCall } : {});
}

/** Reads the client's response to a server that requested text of a model or input of the user. */
export function clientAnswer(result: Shape): Part | undefined {
  const reader = new PartReader();
  if (Array.isArray(result.content) || isBlock(result.content)) reader.blocks(result, "content", "result/content");
  else reader.read(result, "content", "result/content");
  return reader.part("tool_call", "result");
}

/** Reads a server's request to the client for text of its model or input of the user. */
export function serverRequest(method: string, params: Shape, path = "params"): Part[] {
  const reader = new PartReader();
  const definitions: (Part | undefined)[] = [];
  if (method === "sampling/createMessage") {
    reader.messages(params, "messages", `${path}/messages`);
    reader.read(params, "systemPrompt", `${path}/systemPrompt`);
    for (const [index, tool] of list(params.tools).entries()) {
      definitions.push(toolDefinition(tool, `${path}/tools/${index}`));
    }
  } else if (method === "elicitation/create") {
    for (const key of ["message", "requestedSchema", "url"]) reader.read(params, key, `${path}/${key}`);
  }
  // Like definitions of tools, requests to a model are instructions.
  const part = reader.part("tool_definition", path, {}, ({ text }) => !SCHEMA_WORDS.test(text));
  return [part, ...definitions].filter((item) => item !== undefined);
}

/** Reads the requests to the client in a result, which the client answers before the server continues. */
export function inputRequests(result: Shape): Part[] {
  if (!isRecord(result.inputRequests)) return [];
  return Object.entries(result.inputRequests).flatMap(([key, request]) =>
    isRecord(request) && typeof request.method === "string" && isRecord(request.params)
      ? serverRequest(request.method, request.params, `result/inputRequests/${key}/params`)
      : [],
  );
}

/** The objects of a list. */
export function list(value: unknown): Shape[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

type ExtraFields = Partial<Pick<MessageText, "toolName">> & { toolCall?: ToolCall; toolDefinition?: ToolDefinition };

/** Collects the texts of a message. */
class PartReader {
  readonly #reader = new SlotReader();
  #skipped = 0;

  read(holder: object, key: string, path: string): void {
    this.#reader.read(holder, key, path);
  }

  /** Reads all values of an object except those of some keys. */
  others(holder: Shape, excluded: ReadonlySet<string>, path: string): void {
    for (const key of Object.keys(holder)) {
      const isRead = Object.hasOwn(NAME_KEYS, key) ? NAME_KEYS[key] : undefined;
      if (!excluded.has(key)) this.read(holder, key, `${path}/${key}`);
      else if (isRead) this.#reader.readNames(holder, key, `${path}/${key}`, isRead);
    }
  }

  /** Reads the messages of a prompt or of a request to a model. */
  messages(holder: Shape, key: string, path: string): void {
    for (const [index, message] of list(holder[key]).entries()) {
      this.blocks(message, "content", `${path}/${index}/content`);
    }
  }

  /** Reads a block of content, or a list of blocks. */
  blocks(holder: Shape, key: string, path: string): void {
    const content = holder[key];
    if (Array.isArray(content)) {
      for (const [index, item] of content.entries()) {
        if (isRecord(item)) this.#block(item, `${path}/${index}`);
        else this.#reader.read(content, index, `${path}/${index}`);
      }
    } else if (isRecord(content)) this.#block(content, path);
    else this.read(holder, key, path);
  }

  /** Reads the contents of a resource. */
  resource(resource: Shape, path: string): void {
    this.others(resource, NON_TEXT_KEYS, path);
    if (resource.blob !== undefined && !this.#reader.readBlob(resource, "blob", `${path}/blob`)) this.#skipped += 1;
  }

  /** Joins what was read to one text; undefined if there is no text and nothing was skipped. */
  part(source: Source, path: string, more: ExtraFields = {}, isText = (_: { text: string }) => true): Part | undefined {
    const slots = this.#reader.slots.filter(isText);
    if (slots.length === 0 && this.#skipped === 0) return undefined;
    let end = -1;
    const pieces = slots.map((slot) => {
      const start = end + 1;
      end = start + slot.text.length;
      return { start, end, path: slot.path };
    });
    const text = slots.map((slot) => slot.text).join("\n");
    return {
      text: { source, path, text, pieces, skipped: this.#skipped, ...more },
      write: (strings) => {
        for (const [index, slot] of slots.entries()) {
          const changed = strings[index];
          if (changed === undefined || changed === slot.text) continue;
          if (!slot.write) return false;
          slot.write(changed);
        }
        this.#reader.commit();
        return true;
      },
    };
  }

  #block(block: Shape, path: string): void {
    if (isRecord(block.resource)) {
      this.resource(block.resource, `${path}/resource`);
      this.others(block, new Set([...NON_TEXT_KEYS, "resource"]), path);
    } else if (!TEXT_BLOCKS.has(String(block.type ?? "text"))) {
      // An image may be text by its type. A block of an unknown type may have more than its strings.
      if (!this.#reader.readBlob(block, "data", `${path}/data`)) this.#skipped += 1;
      this.others(block, NON_TEXT_KEYS, path);
    } else {
      const content = block.type === "tool_result" ? ["content"] : [];
      if (content.length > 0) this.blocks(block, "content", `${path}/content`);
      this.others(block, new Set([...NON_TEXT_KEYS, ...content]), path);
    }
  }
}

function isBlock(value: unknown): boolean {
  return isRecord(value) && typeof value.type === "string";
}
