import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlot, recordsAt, slot, slotsIn } from "../slots.ts";

/** Where the arguments of a call stand, by the type of its item. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map(
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

/** Calls that say at once what they look for, and run at OpenAI. Their events tell how far they are. */
const RUNS_ELSEWHERE = new Set(["web_search_call", "file_search_call"]);

/** Items that are read by themselves, or hold no words of the model, such as what was encrypted. */
const KNOWN = new Set([
  "message",
  "reasoning",
  "image_generation_call",
  "mcp_list_tools",
  "compaction",
  ...ARGUMENTS.keys(),
]);

/** Whether an item is a call whose arguments arrive in pieces, or which the client runs. */
export function isHeldCall(item: Json): boolean {
  return typeof item.type === "string" && ARGUMENTS.has(item.type) && !RUNS_ELSEWHERE.has(item.type);
}

/**
 * Reads an answer of the Responses API: all messages with all calls, and everything else by itself.
 *
 * @throws GuardError `GUARD_UPSTREAM` when it has no output, and is not an error either.
 */
export function partsOfResponse(body: Json): AnswerPart[] {
  const { output } = body;
  if (output === undefined && isRecord(body.error)) return [];
  if (!Array.isArray(output) || !output.every(isRecord)) throw upstreamError("The answer has no output.");
  return [...partsOfItems(output), { texts: slot(body, "output_text") }];
}

/** Reads items of an answer. */
export function partsOfItems(items: readonly Json[]): AnswerPart[] {
  const texts: TextSlot[] = [];
  const calls: CallSlot[] = [];
  const beside: AnswerPart[] = [];
  for (const item of items) {
    const type = typeof item.type === "string" ? item.type : "";
    const key = ARGUMENTS.get(type);
    if (key !== undefined) calls.push(...callSlot(item, key, item.name ?? type.replace(/_call$/, ""), item.call_id));
    if (type === "message") {
      for (const part of recordsAt(item, "content")) {
        texts.push(...slot(part, "text").map((text) => withoutTokens(text, part)), ...slot(part, "refusal"));
        beside.push(besidePart(part));
      }
    } else if (type === "reasoning") {
      for (const list of ["summary", "content"]) {
        beside.push({ texts: recordsAt(item, list).flatMap((part) => slot(part, "text")), separator: "\n" });
      }
    } else if (type === "image_generation_call") beside.push({ texts: slot(item, "revised_prompt") });
    else if (!KNOWN.has(type)) beside.push({ texts: slotsIn(item), separator: "\n" });
  }
  return [{ texts, calls }, ...beside];
}

/** What a part of a message says beside its text: where it has something from. */
export function besidePart(part: Json): AnswerPart {
  return { texts: slotsIn(part.annotations), separator: "\n" };
}

/** The tokens of a text that was changed belong to the text as it was. */
function withoutTokens({ text, set }: TextSlot, part: Json): TextSlot {
  return {
    text,
    set(changed) {
      set(changed);
      if (part.logprobs !== undefined) part.logprobs = [];
    },
  };
}
