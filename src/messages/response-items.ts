import type { Source } from "../scan/source.ts";
import { readAllStrings } from "./all-strings.ts";
import { contentContext, readContent } from "./content.ts";
import { knownItemFields } from "./known-fields.ts";
import { addStrings, type PartContext } from "./part-reader.ts";
import type { KeyPath, RequestReader, TextDraft } from "./request-reader.ts";
import { addToolCall } from "./tool-calls.ts";
import { readTools } from "./tool-definitions.ts";
import { readUnknownFields } from "./unknown-fields.ts";

type Item = Record<string, unknown>;

/** The context in which an item is read. */
interface ItemContext {
  item: Item;
  keys: KeyPath;
  message: number;
  reader: RequestReader;
}

type ItemReader = (context: ItemContext) => void;

/** Opens a text for an item, or for one of its fields. */
function openField({ keys, message, reader, item }: ItemContext, source: Source, key?: string): TextDraft {
  const id = item.call_id;
  const toolName = source === "tool" && typeof id === "string" ? reader.calls.get(id) : undefined;
  return reader.open(key === undefined ? keys : [...keys, key], { source, message, toolName });
}

function fieldContext(context: ItemContext, draft: TextDraft, key: string): PartContext {
  return contentContext(context.reader, draft, [...context.keys, key]);
}

/** Returns a reader of a field with the arguments of a call. */
function readCallField(key: string, nameOf?: string): ItemReader {
  return (context) => {
    const { item, keys } = context;
    if (item[key] === undefined || item[key] === null) return;
    addToolCall(
      {
        name: nameOf ?? item.name,
        ...(nameOf === undefined && { nameKeys: [...keys, "name"] }),
        id: item.call_id ?? item.id,
        value: item[key],
        keys: [...keys, key],
      },
      keys,
      context,
    );
  };
}

/** Returns a reader of a field with the content of a tool result: a string or parts. */
function readOutputField(key: string): ItemReader {
  return (context) => {
    const value = context.item[key];
    const draft = openField(context, "tool", key);
    draft.isKept = true;
    readContent(value, fieldContext(context, draft, key));
  };
}

/** Returns a reader of all strings in fields. */
function readStringFields(source: Source, ...fields: string[]): ItemReader {
  return (context) => {
    for (const key of fields) {
      const value = context.item[key];
      if (value === undefined || value === null) continue;
      const draft = openField(context, source, key);
      readAllStrings(value, fieldContext(context, draft, key));
    }
  };
}

/** Returns a reader that counts an item as skipped. */
function skipItem(source: Source): ItemReader {
  return (context) => {
    openField(context, source).skipped += 1;
  };
}

function readToolsField(context: ItemContext): void {
  readTools(context.item.tools, [...context.keys, "tools"], context.reader, context.message);
}

const combine =
  (...readers: ItemReader[]): ItemReader =>
  (context) => {
    for (const reader of readers) reader(context);
  };

/** Reads reasoning, which the model wrote. Only the provider can decrypt `encrypted_content`. */
const readReasoning: ItemReader = (context) => {
  const draft = openField(context, "assistant");
  if (context.item.encrypted_content) draft.skipped += 1;
  for (const key of ["summary", "content"]) {
    const value = context.item[key];
    if (value !== undefined && value !== null) readAllStrings(value, fieldContext(context, draft, key));
  }
};

/** Reads why a person refused or allowed a call. The model gets the reason, but it is not a message. */
const readApproval: ItemReader = ({ item, keys, message, reader }) => {
  addStrings(reader.openBeside([...keys, "reason"], "user", message), item, ["reason"], keys);
};

/** Reads the strings of an unknown item as tool data. It counts as skipped, because it may contain more than strings. */
const readUnknown: ItemReader = (context) => {
  const draft = openField(context, "tool");
  draft.skipped += 1;
  readAllStrings(context.item, { ...fieldContext(context, draft, ""), keys: context.keys });
};

/** The items of OpenAI's Responses API, except messages. */
const ITEMS: ReadonlyMap<string, ItemReader> = new Map(
  Object.entries({
    function_call: readCallField("arguments"),
    custom_tool_call: readCallField("input"),
    mcp_call: combine(readCallField("arguments"), readStringFields("tool", "output", "error")),
    mcp_approval_request: readCallField("arguments"),
    mcp_approval_response: readApproval,
    mcp_list_tools: combine(readToolsField, readStringFields("tool", "error")),
    tool_search_call: readCallField("arguments", "tool_search"),
    tool_search_output: readToolsField,
    additional_tools: readToolsField,
    web_search_call: combine(readCallField("action", "web_search"), readStringFields("tool", "results")),
    file_search_call: combine(readCallField("queries", "file_search"), readStringFields("tool", "results")),
    computer_call: combine(
      readCallField("action", "computer"),
      readCallField("actions", "computer"),
      readStringFields("tool", "pending_safety_checks"),
    ),
    code_interpreter_call: combine(readCallField("code", "code_interpreter"), readStringFields("tool", "outputs")),
    local_shell_call: readCallField("action", "local_shell"),
    shell_call: readCallField("action", "shell"),
    apply_patch_call: readCallField("operation", "apply_patch"),
    image_generation_call: combine(readCallField("revised_prompt", "image_generation"), skipItem("assistant")),
    program: readCallField("code", "program"),
    function_call_output: readOutputField("output"),
    custom_tool_call_output: readOutputField("output"),
    local_shell_call_output: readOutputField("output"),
    apply_patch_call_output: readOutputField("output"),
    computer_call_output: combine(readOutputField("output"), readStringFields("tool", "acknowledged_safety_checks")),
    shell_call_output: readStringFields("tool", "output"),
    program_output: readOutputField("result"),
    reasoning: readReasoning,
    compaction: skipItem("assistant"),
    compaction_trigger: () => {},
    item_reference: skipItem("tool"),
  } satisfies Record<string, ItemReader>),
);

/** Reads an item of OpenAI's Responses API that is not a message. */
export function readResponseItem(item: Item, index: number, reader: RequestReader): void {
  const type = typeof item.type === "string" ? item.type : "item_reference";
  const keys = ["messages", index];
  const context: ItemContext = { item, keys, message: index, reader };
  const read = ITEMS.get(type);
  (read ?? readUnknown)(context);
  if (read)
    readUnknownFields(item, knownItemFields(type), {
      ...fieldContext(context, reader.openBeside(keys, "tool", index), ""),
      keys,
    });
}

/** Whether a message is an item of the Responses API without a role and content. */
export function isResponseItem(message: Record<string, unknown>): boolean {
  if (message.content !== undefined && message.role !== undefined) return false;
  if (message.type === "message") return false;
  if (typeof message.type === "string") return message.role === undefined || ITEMS.has(message.type);
  if (Array.isArray(message.parts)) return false;
  return message.role === undefined && typeof message.id === "string" && message.content === undefined;
}
