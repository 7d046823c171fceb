import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import {
  callSlotAt,
  findLongTexts,
  findSlots,
  findUnknownTexts,
  getRecord,
  type PathSlot,
  parseNames,
  watchSlot,
} from "../slots.ts";

/** Fields of messages and deltas with tool calls, which have a reader of their own. */
export const CALL_FIELDS: ReadonlySet<string> = new Set(["tool_calls", "function_call"]);

/** Fields with citations. They are complete even in streams. */
export const CITATION_FIELDS: ReadonlySet<string> = new Set(["annotations", "citations"]);

/**
 * Reads the choices of an answer.
 *
 * @throws GuardError `GUARD_UPSTREAM` if it has none and is not an error.
 */
export function readChoices(body: Json): Json[] {
  const { choices } = body;
  // An error may follow choices in the same answer.
  if ((choices === undefined || choices === null) && isRecord(body.error)) return [];
  if (!Array.isArray(choices)) throw upstreamError("The answer has no choices.");
  return recordsOf(choices, "A choice of the answer is not an object.");
}

/** Reads the choices of a chunk of a stream. A chunk may have none, such as one with the usage; `error` if it is an error instead. */
export function readChunkChoices(chunk: Json): Json[] | "error" {
  if (chunk.choices !== undefined && chunk.choices !== null) return readChoices(chunk);
  return isRecord(chunk.error) ? "error" : [];
}

/** Fields of a choice, and of a body or chunk, with readers of their own. */
const CHOICE_FIELDS = parseNames("message delta logprobs finish_reason");
const BODY_FIELDS = parseNames("choices error prompt_logprobs");

/** Fields of a body or chunk with words and ids. */
const NAME_FIELDS = parseNames("id object model usage system_fingerprint service_tier provider obfuscation");
const ALL_BODY_FIELDS: ReadonlySet<string> = new Set([...BODY_FIELDS, ...NAME_FIELDS]);

/**
 * Finds texts in fields of a body or chunk that OpenAI does not define. Some providers put search results there.
 *
 * @param choiceFields the fields of a choice with readers of their own.
 * @throws GuardError `GUARD_UPSTREAM` if a message is not an object.
 */
export function findExtraTexts(body: Json, choices: readonly Json[], choiceFields = CHOICE_FIELDS): TextSlot[] {
  for (const { message, delta } of choices) {
    for (const value of [message, delta]) {
      if (value !== undefined && value !== null && !isRecord(value))
        throw upstreamError("A message of the answer is not an object.");
    }
  }
  return [
    ...findUnknownTexts(body, ALL_BODY_FIELDS),
    ...findLongTexts(body, NAME_FIELDS),
    ...choices.flatMap((choice) => findUnknownTexts(choice, choiceFields)),
  ];
}

/** Removes the tokens of a changed text and their probabilities, because they are those of the original. */
export function clearLogprobs(choice: Json): void {
  if (choice.logprobs !== undefined) choice.logprobs = null;
  if (choice.token_ids !== undefined) choice.token_ids = null;
}

/**
 * Reads a message of an answer: the content with the tool calls, and each other field separately.
 *
 * @param onChange called when a text of the message is replaced.
 */
export function readMessageParts(message: Json, onChange: () => void): AnswerPart[] {
  const { calls, others } = readCalls(message);
  const groups = new Map<string, AnswerPart & { texts: TextSlot[] }>([["content", { texts: [], calls }]]);
  for (const slot of [...findSlots(message, undefined, CALL_FIELDS), ...others]) {
    // Content with parts may contain reasoning, which is displayed separately.
    const isThinking = slot.keys.includes("thinking");
    const key = isThinking ? "thinking" : String(slot.keys[0]);
    const group = groups.get(key) ?? { texts: [], separator: "\n" };
    groups.set(key, group);
    group.texts.push(watchSlot(slot, onChange));
  }
  return [...groups.values()];
}

/** The fields of a tool call with readers of their own. */
const TOOL_CALL_FIELDS: ReadonlySet<string> = new Set(["function", "custom", "arguments", "input", "name"]);
const CALLED_FIELDS: ReadonlySet<string> = new Set(["arguments", "input", "name"]);

/**
 * Reads the tool calls of a message: functions, custom tools with a text as input, and the legacy `function_call`. `others` has texts in
 * their other fields.
 *
 * @throws GuardError `GUARD_UPSTREAM` if they have another shape, because a client could read them nevertheless.
 */
export function readCalls(message: Json): { calls: CallSlot[]; others: PathSlot[] } {
  const { tool_calls: list, function_call: legacy } = message;
  const calls: CallSlot[] = [];
  const others: PathSlot[] = [];
  for (const call of recordsOf(list, "The tool calls of the answer are not a list.")) {
    const called = [getRecord(call, "function"), getRecord(call, "custom")].filter((value) => value !== undefined);
    for (const inner of called.length > 0 ? called : [call]) {
      const key = inner.arguments === undefined && inner.input !== undefined ? "input" : "arguments";
      calls.push(...callSlotAt(inner, key, inner.name, call.id));
      others.push(...findUnknownTexts(inner, inner === call ? TOOL_CALL_FIELDS : CALLED_FIELDS));
      // A client reads either `arguments` or `input`, so the other field is checked as a text.
      if (key === "arguments") others.push(...findSlots(inner).filter(({ keys }) => keys[0] === "input"));
    }
    if (called.length > 0) others.push(...findUnknownTexts(call, new Set(["function", "custom"])));
  }
  if (legacy !== undefined && legacy !== null) {
    if (!isRecord(legacy)) throw upstreamError("The function call of the answer is not an object.");
    calls.push(...callSlotAt(legacy, "arguments", legacy.name, undefined));
    others.push(...findUnknownTexts(legacy, CALLED_FIELDS));
  }
  return { calls, others };
}

/** @throws GuardError `GUARD_UPSTREAM` if a value is there and not a list of objects. */
export function recordsOf(value: unknown, message: string): Json[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isRecord)) throw upstreamError(message);
  return value;
}
