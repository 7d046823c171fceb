import type { Source } from "../scan/source.ts";
import { addCall } from "./calls.ts";
import { fieldsOfItem } from "./known-fields.ts";
import { readLoosely } from "./loose.ts";
import type { At } from "./part.ts";
import { contentAt, readContent } from "./parts.ts";
import type { Draft, Keys, Reading } from "./reading.ts";
import { readRest } from "./rest.ts";
import { readTools } from "./tools.ts";

type Item = Record<string, unknown>;

/** An item that is being read. */
interface Place {
  item: Item;
  keys: Keys;
  message: number;
  reading: Reading;
}

type ItemReader = (place: Place) => void;

/** Opens the text of a field of an item. */
function open({ keys, message, reading, item }: Place, source: Source, key?: string): Draft {
  const id = item.call_id;
  const toolName = source === "tool" && typeof id === "string" ? reading.calls.get(id) : undefined;
  return reading.open(key === undefined ? keys : [...keys, key], { source, message, toolName });
}

function at(place: Place, into: Draft, key: string): At {
  return contentAt(place.reading, into, [...place.keys, key]);
}

/** Reads a field as the arguments of a call. */
function call(key: string, nameOf?: string): ItemReader {
  return (place) => {
    const { item, keys } = place;
    if (item[key] === undefined || item[key] === null) return;
    addCall(
      {
        name: nameOf ?? item.name,
        ...(nameOf === undefined && { nameKeys: [...keys, "name"] }),
        id: item.call_id ?? item.id,
        value: item[key],
        keys: [...keys, key],
      },
      keys,
      place,
    );
  };
}

/** Reads a field as content of a tool: a string, or parts. */
function output(key: string): ItemReader {
  return (place) => {
    const value = place.item[key];
    const into = open(place, "tool", key);
    into.keep = true;
    readContent(value, at(place, into, key));
  };
}

/** Reads all strings below a field. */
function loose(source: Source, ...fields: string[]): ItemReader {
  return (place) => {
    for (const key of fields) {
      const value = place.item[key];
      if (value === undefined || value === null) continue;
      const into = open(place, source, key);
      readLoosely(value, at(place, into, key));
    }
  };
}

/** Counts what cannot be read. */
function skipped(source: Source): ItemReader {
  return (place) => {
    open(place, source).skipped += 1;
  };
}

function tools(place: Place): void {
  readTools(place.item.tools, [...place.keys, "tools"], place.reading, place.message);
}

const all =
  (...readers: ItemReader[]): ItemReader =>
  (place) => {
    for (const reader of readers) reader(place);
  };

/** Reasoning is what the model wrote. `encrypted_content` cannot be read by anybody but the provider. */
const readReasoning: ItemReader = (place) => {
  const into = open(place, "assistant");
  for (const key of ["summary", "content"]) {
    const value = place.item[key];
    if (value !== undefined && value !== null) readLoosely(value, at(place, into, key));
  }
};

/** Why a person refused or allowed a call. It is said to the model, but it is no message. */
const readApproval: ItemReader = ({ item, keys, message, reading }) => {
  if (typeof item.reason !== "string") return;
  reading.open([...keys, "reason"], { source: "user", message, isBeside: true }).add(item.reason, [...keys, "reason"]);
};

/** An item of a type that nobody knows: its strings are data, and it counts as skipped, since there may be more to it. */
const readUnknown: ItemReader = (place) => {
  const into = open(place, "tool");
  into.skipped += 1;
  readLoosely(place.item, { ...at(place, into, ""), keys: place.keys });
};

/** The items of OpenAI's Responses API, except messages. */
const ITEMS: ReadonlyMap<string, ItemReader> = new Map(
  Object.entries({
    function_call: call("arguments"),
    custom_tool_call: call("input"),
    mcp_call: all(call("arguments"), loose("tool", "output", "error")),
    mcp_approval_request: call("arguments"),
    mcp_approval_response: readApproval,
    mcp_list_tools: all(tools, loose("tool", "error")),
    tool_search_call: call("arguments", "tool_search"),
    tool_search_output: tools,
    additional_tools: tools,
    web_search_call: all(call("action", "web_search"), loose("tool", "results")),
    file_search_call: all(call("queries", "file_search"), loose("tool", "results")),
    computer_call: all(call("action", "computer"), call("actions", "computer"), loose("tool", "pending_safety_checks")),
    code_interpreter_call: all(call("code", "code_interpreter"), loose("tool", "outputs")),
    local_shell_call: call("action", "local_shell"),
    shell_call: call("action", "shell"),
    apply_patch_call: call("operation", "apply_patch"),
    image_generation_call: all(call("revised_prompt", "image_generation"), skipped("assistant")),
    program: call("code", "program"),
    function_call_output: output("output"),
    custom_tool_call_output: output("output"),
    local_shell_call_output: output("output"),
    apply_patch_call_output: output("output"),
    computer_call_output: all(output("output"), loose("tool", "acknowledged_safety_checks")),
    shell_call_output: loose("tool", "output"),
    program_output: output("result"),
    reasoning: readReasoning,
    compaction: skipped("assistant"),
    compaction_trigger: () => {},
    item_reference: skipped("tool"),
  } satisfies Record<string, ItemReader>),
);

/** Reads an item of OpenAI's Responses API that is no message. */
export function readItem(item: Item, index: number, reading: Reading): void {
  const type = typeof item.type === "string" ? item.type : "item_reference";
  const keys = ["messages", index];
  const place: Place = { item, keys, message: index, reading };
  const read = ITEMS.get(type);
  (read ?? readUnknown)(place);
  if (read) readRest(item, fieldsOfItem(type), { ...at(place, reading.aside(keys, "tool", index), ""), keys });
}

/** Whether a message is an item of the Responses API, and no message with a role and content. */
export function isItem(message: Record<string, unknown>): boolean {
  if (message.content !== undefined && message.role !== undefined) return false;
  if (message.type === "message") return false;
  if (typeof message.type === "string") return message.role === undefined || ITEMS.has(message.type);
  return message.role === undefined && typeof message.id === "string" && message.content === undefined;
}
