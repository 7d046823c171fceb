import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findSlots, getRecords, slotAt } from "../slots.ts";

/** The fields with the arguments of a call, by the type of its item. */
const ARGUMENT_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    function_call: "arguments",
    custom_tool_call: "input",
    mcp_call: "arguments",
    mcp_approval_request: "arguments",
    tool_search_call: "arguments",
    local_shell_call: "action",
    shell_call: "action",
    computer_call: "action",
    apply_patch_call: "operation",
    code_interpreter_call: "code",
    web_search_call: "action",
    file_search_call: "queries",
  }),
);

/** Calls that run at OpenAI. Their arguments are complete from the start, and their events report progress. */
const PROVIDER_CALLS = new Set(["web_search_call", "file_search_call"]);

/** Items with readers of their own or without text of the model, such as encrypted ones. */
const KNOWN_ITEMS = new Set([
  "message",
  "reasoning",
  "image_generation_call",
  "mcp_list_tools",
  "compaction",
  ...ARGUMENT_FIELDS.keys(),
]);

/** Whether an item is a call whose arguments are streamed or that the client runs. */
export function isHeldCall(item: Json): boolean {
  return typeof item.type === "string" && ARGUMENT_FIELDS.has(item.type) && !PROVIDER_CALLS.has(item.type);
}

/**
 * Reads an answer of the Responses API: all messages with all calls, and everything else separately.
 *
 * @throws GuardError `GUARD_UPSTREAM` if it has no output and is not an error.
 */
export function readResponseParts(body: Json): AnswerPart[] {
  const { output } = body;
  if (output === undefined && isRecord(body.error)) return [];
  if (!Array.isArray(output) || !output.every(isRecord)) throw upstreamError("The answer has no output.");
  return [...readItemParts(output), { texts: slotAt(body, "output_text") }];
}

/** Reads items of an answer. */
export function readItemParts(items: readonly Json[]): AnswerPart[] {
  const texts: TextSlot[] = [];
  const calls: CallSlot[] = [];
  const extras: AnswerPart[] = [];
  for (const item of items) {
    const type = typeof item.type === "string" ? item.type : "";
    const key = ARGUMENT_FIELDS.get(type);
    if (key !== undefined) calls.push(...callSlotAt(item, key, item.name ?? type.replace(/_call$/, ""), item.call_id));
    if (type === "message") {
      for (const part of getRecords(item, "content")) {
        texts.push(...slotAt(part, "text").map((text) => clearLogprobs(text, part)), ...slotAt(part, "refusal"));
        extras.push(readPartExtras(part));
      }
    } else if (type === "reasoning") {
      for (const list of ["summary", "content"]) {
        extras.push({ texts: getRecords(item, list).flatMap((part) => slotAt(part, "text")), separator: "\n" });
      }
    } else if (type === "image_generation_call") extras.push({ texts: slotAt(item, "revised_prompt") });
    else if (!KNOWN_ITEMS.has(type)) extras.push({ texts: findSlots(item), separator: "\n" });
  }
  return [{ texts, calls }, ...extras];
}

/** Reads the citations of a part of a message. */
export function readPartExtras(part: Json): AnswerPart {
  return { texts: findSlots(part.annotations), separator: "\n" };
}

/** Removes the token probabilities of a part when its text changes, because they are those of the original. */
function clearLogprobs({ text, set }: TextSlot, part: Json): TextSlot {
  return {
    text,
    set(changed) {
      set(changed);
      if (part.logprobs !== undefined) part.logprobs = [];
    },
  };
}
