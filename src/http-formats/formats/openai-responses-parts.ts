import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findSlots, findUnknownTexts, parseNames, slotAt, watchSlot } from "../slots.ts";
import { TEXT_FIELDS } from "./openai-responses-events.ts";

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

/** Fields with results of tools that ran at the provider. All their strings are text. */
const RESULT_FIELDS: ReadonlySet<string> = new Set(
  "output outputs results error tools pending_safety_checks acknowledged_safety_checks revised_prompt".split(" "),
);

/** Fields with the bytes of images, audio and screenshots. */
export const BYTES: ReadonlySet<string> = new Set(["b64_json", "partial_image_b64"]);

/** The fields of a part of a message with readers of their own, or without text: `logprobs` repeats the text, and `data` has bytes. */
const PART_FIELDS: ReadonlySet<string> = new Set([...TEXT_FIELDS, "logprobs", "annotations", "data"]);

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
  return [...readItemParts(output), { texts: slotAt(body, "output_text") }, readResponseExtras(body)];
}

/** Fields of a response with readers of their own, and those that repeat the request. */
const RESPONSE_FIELDS = parseNames(
  "output output_text error incomplete_details usage model input instructions metadata tools tool_choice text prompt reasoning user",
  "conversation previous_response_id prompt_cache_key safety_identifier service_tier truncation moderation",
);

/** Reads texts in fields of a response that OpenAI does not define. */
export function readResponseExtras(response: Json): AnswerPart {
  return { texts: findUnknownTexts(response, RESPONSE_FIELDS), separator: "\n" };
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
      texts.push(...slotAt(item, "content"), ...readStrings(item.content));
      for (const part of partsOf(item)) {
        const slots = TEXT_FIELDS.flatMap((name) => slotAt(part, name));
        texts.push(...slots.map((slot) => watchSlot(slot, () => clearLogprobs(part))));
        extras.push(...readPartExtras(part));
      }
    } else if (type === "reasoning") {
      for (const list of ["summary", "content"]) extras.push({ texts: findSlots(item[list]), separator: "\n" });
      extras.push({ texts: [...slotAt(item, "summary"), ...slotAt(item, "content")], separator: "\n" });
    }
    extras.push(...readItemExtras(item, key));
  }
  return [{ texts, calls }, ...extras];
}

/** Reads the results of tools in an item, and texts in its other fields. */
function readItemExtras(item: Json, key: string | undefined): AnswerPart[] {
  const handled = new Set(["content", "summary", "name", ...(key === undefined ? [] : [key])]);
  // The image itself is in `result`.
  if (item.type === "image_generation_call") handled.add("result");
  if (isKnownItem(item.type)) {
    const others = findUnknownTexts(item, new Set([...handled, ...RESULT_FIELDS]));
    const results = findSlots(item, BYTES, handled).filter(({ keys }) => RESULT_FIELDS.has(String(keys[0])));
    return [
      { texts: results, separator: "\n" },
      { texts: others, separator: "\n" },
    ];
  }
  return [{ texts: findSlots(item, BYTES), separator: "\n" }];
}

function isKnownItem(type: unknown): boolean {
  if (typeof type !== "string") return false;
  return ARGUMENT_FIELDS.has(type) || /^(?:message|reasoning|image_generation_call|compaction)$/.test(type);
}

/** The events with arguments of a call: `response.function_call_arguments.delta`. */
const ARGUMENT_EVENT = /(?:arguments|input|code|diff)\.(?:delta|done)$/;
const ARGUMENT_EVENT_FIELDS = new Set(["type", "delta", "arguments", "input", "code", "diff", "name", "obfuscation"]);
const OTHER_EVENT_FIELDS = new Set(["type"]);

/** Reads the texts of an event at the index of a call, besides the arguments, which are checked at the end of the call. */
export function readHeldExtras(type: string, data: Json): AnswerPart[] {
  const isArguments = ARGUMENT_EVENT.test(type);
  return [{ texts: findUnknownTexts(data, isArguments ? ARGUMENT_EVENT_FIELDS : OTHER_EVENT_FIELDS), separator: "\n" }];
}

/** Returns the parts of a message. A hostile server may send one part where there should be a list. */
function partsOf({ content }: Json): Json[] {
  return (Array.isArray(content) ? content : [content]).filter(isRecord);
}

/** Returns strings in a list of parts. */
function readStrings(list: unknown): TextSlot[] {
  return Array.isArray(list) ? findSlots(list).filter(({ keys }) => keys.length === 1) : [];
}

/** Reads the citations of a part of a message, and texts in fields that a part usually lacks. */
export function readPartExtras(part: Json): AnswerPart[] {
  const lists = TEXT_FIELDS.filter((name) => typeof part[name] !== "string");
  return [
    { texts: findSlots(part.annotations), separator: "\n" },
    { texts: lists.flatMap((name) => findSlots(part[name])), separator: "\n" },
    { texts: findUnknownTexts(part, PART_FIELDS), separator: "\n" },
  ];
}

/** Removes the token probabilities of a changed part, because they are those of the original. */
function clearLogprobs(part: Json): void {
  if (part.logprobs !== undefined) part.logprobs = [];
}
