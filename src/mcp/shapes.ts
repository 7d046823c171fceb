import type { MessageText, ToolCall, ToolDefinition } from "../scan/conversation-text.ts";
import type { Source } from "../scan/source.ts";
import { isRecord } from "../support/is-record.ts";
import { SlotReader } from "./slots.ts";

/** A part of a message that is judged as one text. The message is changed in place when {@link write} is called: give it a copy. */
export interface Part {
  text: MessageText;
  /** Puts other strings into the message, one for each piece of the text. @returns false when one of them cannot be changed. */
  write(strings: readonly string[]): boolean;
}

type Shape = Record<string, unknown>;

/** Keys of content, resources and definitions whose values are not shown to a model: data, types, and what is meant for programs. */
const NOT_TEXT = new Set(["_meta", "type", "data", "blob", "mimeType", "annotations", "icons", "size", "execution"]);

/** The values of `type` in a JSON Schema, and the addresses of its versions. They are in every schema and say nothing. */
const OF_SCHEMA = /^(string|number|integer|boolean|object|array|null|https?:\/\/json-schema\.org\/.*)$/;

/** Keys of results that are not shown to a model: what is meant for programs, and what is read by itself. */
const NOT_OF_RESULT = new Set([
  "_meta",
  "isError",
  "resultType",
  "nextCursor",
  "requestState",
  "inputRequests",
  "content",
]);

/** Reads what a tool returned: content, structured content and whatever else is in the result. */
export function toolResult(result: Shape, toolName?: string): Part | undefined {
  const reading = new Reading();
  reading.blocks(result, "content", "result/content");
  reading.others(result, NOT_OF_RESULT, "result");
  return reading.part("tool", "result", toolName === undefined ? {} : { toolName });
}

/** Reads the messages of a prompt and its description. A prompt consists of instructions to a model, as definitions of tools do. */
export function promptResult(result: Shape): Part | undefined {
  const reading = new Reading();
  reading.messages(result, "messages", "result/messages");
  reading.others(result, new Set([...NOT_OF_RESULT, "messages"]), "result");
  return reading.part("tool_definition", "result");
}

/** Reads the contents of a resource. */
export function resourceResult(result: Shape): Part | undefined {
  const reading = new Reading();
  for (const [index, item] of list(result.contents).entries()) reading.resource(item, `result/contents/${index}`);
  reading.others(result, new Set([...NOT_OF_RESULT, "contents", "ttlMs", "cacheScope"]), "result");
  return reading.part("tool", "result");
}

/** Reads what the server says of a task: its status in words. */
export function taskResult(result: Shape): Part | undefined {
  const reading = new Reading();
  const tasks = [result, result.task, ...list(result.tasks)].filter(isRecord);
  for (const task of tasks) reading.read(task, "statusMessage", "result/statusMessage");
  return reading.part("tool", "result");
}

/** Reads the message and the data of an error. */
export function errorText(error: object): Part | undefined {
  const reading = new Reading();
  reading.read(error, "message", "error/message");
  reading.read(error, "data", "error/data");
  return reading.part("tool", "error");
}

/** Reads a text that a server gives to clients beside its tools. */
export function plainText(holder: Shape, key: string, path: string): Part | undefined {
  const reading = new Reading();
  reading.read(holder, key, path);
  return reading.part("tool_definition", path);
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

/** Reads what a list says of a prompt, a resource or a template. */
export function listEntry(entry: Shape, path: string): Part | undefined {
  return definitionPart(entry, path);
}

function definitionPart(entry: Shape, path: string, more: Extra = {}): Part | undefined {
  const reading = new Reading();
  reading.others(entry, NOT_TEXT, path);
  if (isRecord(entry.annotations)) reading.read(entry.annotations, "title", `${path}/annotations/title`);
  return reading.part("tool_definition", path, more, ({ text }) => !OF_SCHEMA.test(text));
}

/** Reads the arguments of a call on their way to the server. */
export function callArguments(params: Shape, toolCall?: ToolCall): Part | undefined {
  const reading = new Reading();
  for (const key of ["arguments", "uri", "argument", "context", "inputResponses"]) {
    reading.read(params, key, `params/${key}`);
  }
  return reading.part("tool_call", "params", toolCall ? { toolCall } : {});
}

/** Reads what the client answers a server that asked for a model's text or a person's input. */
export function clientAnswer(result: Shape): Part | undefined {
  const reading = new Reading();
  if (Array.isArray(result.content) || isBlock(result.content)) reading.blocks(result, "content", "result/content");
  else reading.read(result, "content", "result/content");
  return reading.part("tool_call", "result");
}

/** Reads what a server asks of the client: a text by the client's model, or input of a person. */
export function serverRequest(method: string, params: Shape, path = "params"): Part[] {
  const reading = new Reading();
  const definitions: (Part | undefined)[] = [];
  if (method === "sampling/createMessage") {
    reading.messages(params, "messages", `${path}/messages`);
    reading.read(params, "systemPrompt", `${path}/systemPrompt`);
    for (const [index, tool] of list(params.tools).entries()) {
      definitions.push(toolDefinition(tool, `${path}/tools/${index}`));
    }
  } else if (method === "elicitation/create") {
    for (const key of ["message", "requestedSchema", "url"]) reading.read(params, key, `${path}/${key}`);
  }
  // Requests of a server to a model consist of instructions, as definitions of tools do.
  const part = reading.part("tool_definition", path, {}, ({ text }) => !OF_SCHEMA.test(text));
  return [part, ...definitions].filter((item) => item !== undefined);
}

/** The requests to the client that a result asks to be answered before the server goes on. */
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

type Extra = Partial<Pick<MessageText, "toolName">> & { toolCall?: ToolCall; toolDefinition?: ToolDefinition };

/** Collects what of a message is text. */
class Reading {
  readonly #reader = new SlotReader();
  #skipped = 0;

  read(holder: object, key: string, path: string): void {
    this.#reader.read(holder, key, path);
  }

  /** Reads all values of an object but those of some keys. */
  others(holder: Shape, leaveOut: ReadonlySet<string>, path: string): void {
    for (const key of Object.keys(holder)) if (!leaveOut.has(key)) this.read(holder, key, `${path}/${key}`);
  }

  /** Reads messages of a prompt, or for a model. */
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
    this.others(resource, NOT_TEXT, path);
    if (resource.blob !== undefined && !this.#reader.readBlob(resource, `${path}/blob`)) this.#skipped += 1;
  }

  /** What was read, as one text; undefined where there is no text and nothing was skipped. */
  part(source: Source, path: string, more: Extra = {}, isText = (_: { text: string }) => true): Part | undefined {
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
      this.others(block, new Set([...NOT_TEXT, "resource"]), path);
    } else if (block.type === "image" || block.type === "audio") {
      this.#skipped += 1;
      this.others(block, NOT_TEXT, path);
    } else {
      const content = block.type === "tool_result" ? ["content"] : [];
      if (content.length > 0) this.blocks(block, "content", `${path}/content`);
      this.others(block, new Set([...NOT_TEXT, ...content]), path);
    }
  }
}

function isBlock(value: unknown): boolean {
  return isRecord(value) && typeof value.type === "string";
}
