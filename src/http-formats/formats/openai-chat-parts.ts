import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findSlots, findUnknownTexts, getRecord, getRecords, parseNames } from "../slots.ts";

/** Fields of messages and deltas with readers of their own or without text: tool calls, and the bytes of audio. */
export const NOT_TEXT: ReadonlySet<string> = new Set(["tool_calls", "function_call", "data", "format"]);

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
  if (!Array.isArray(choices) || !choices.every(isRecord)) throw upstreamError("The answer has no choices.");
  return choices;
}

/** Fields of a choice, and of a body or chunk, with readers of their own or without text. */
const KNOWN_CHOICE_FIELDS = parseNames("index message delta logprobs finish_reason");
const KNOWN_BODY_FIELDS = parseNames(
  "id object created model choices usage system_fingerprint service_tier error provider obfuscation",
);

/**
 * Finds texts in fields of a body or chunk that OpenAI does not define. Some providers put search results there.
 *
 * @throws GuardError `GUARD_UPSTREAM` if a message is not an object.
 */
export function findExtraTexts(body: Json, choices: readonly Json[]): TextSlot[] {
  for (const { message, delta } of choices) {
    for (const value of [message, delta]) {
      if (value !== undefined && value !== null && !isRecord(value))
        throw upstreamError("A message of the answer is not an object.");
    }
  }
  return [
    ...findUnknownTexts(body, KNOWN_BODY_FIELDS),
    ...choices.flatMap((choice) => findUnknownTexts(choice, KNOWN_CHOICE_FIELDS)),
  ];
}

/** Removes the token probabilities of a changed text, because they are those of the original. */
export function clearLogprobs(choice: Json): void {
  if (choice.logprobs !== undefined) choice.logprobs = null;
}

/**
 * Reads a message of an answer: the content with the tool calls, and each other field separately.
 *
 * @param onChange called when a text of the message is replaced.
 */
export function readMessageParts(message: Json, onChange: () => void): AnswerPart[] {
  const groups = new Map<string, AnswerPart>([["content", { texts: [], calls: readCalls(message) }]]);
  for (const { keys, text, set } of findSlots(message, NOT_TEXT)) {
    // Content with parts may contain reasoning, which is displayed separately.
    const isThinking = keys.includes("thinking");
    const key = isThinking ? "thinking" : String(keys[0]);
    const group = groups.get(key) ?? { texts: [], separator: "\n" };
    groups.set(key, group);
    (group.texts as unknown[]).push({
      text,
      set: (changed: string) => {
        set(changed);
        onChange();
      },
    });
  }
  return [...groups.values()];
}

/** Reads the tool calls of a message: functions, custom tools with a text as input, and the legacy `function_call`. */
export function readCalls(message: Json): CallSlot[] {
  const legacy = getRecord(message, "function_call");
  return [
    ...getRecords(message, "tool_calls").flatMap((call) => {
      const called = getRecord(call, "function");
      const custom = getRecord(call, "custom");
      if (called) return callSlotAt(called, "arguments", called.name, call.id);
      if (custom) return callSlotAt(custom, "input", custom.name, call.id);
      return callSlotAt(call, call.arguments === undefined ? "input" : "arguments", call.name, call.id);
    }),
    ...(legacy ? callSlotAt(legacy, "arguments", legacy.name, undefined) : []),
  ];
}
