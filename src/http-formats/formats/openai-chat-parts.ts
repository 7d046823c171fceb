import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlot, names, recordAt, recordsAt, slotsIn, unknownTexts } from "../slots.ts";

/** Fields of messages and deltas that are read by themselves, or hold no text: tool calls, and the bytes of a sound. */
export const NOT_TEXT: ReadonlySet<string> = new Set(["tool_calls", "function_call", "data", "format"]);

/** Fields that say where a text has something from. They arrive whole, also in streams. */
export const SOURCES: ReadonlySet<string> = new Set(["annotations", "citations"]);

/**
 * The choices of an answer.
 *
 * @throws GuardError `GUARD_UPSTREAM` when it has none, and is not an error either.
 */
export function choices(body: Json): Json[] {
  const { choices } = body;
  // An error may stand beside what was said before it.
  if ((choices === undefined || choices === null) && isRecord(body.error)) return [];
  if (!Array.isArray(choices) || !choices.every(isRecord)) throw upstreamError("The answer has no choices.");
  return choices;
}

/** The fields of a choice, and those of a body or chunk, that are read by themselves or say nothing. */
const OF_CHOICE = names("index message delta logprobs finish_reason");
const OF_BODY = names(
  "id object created model choices usage system_fingerprint service_tier error provider obfuscation",
);

/**
 * The texts of a body or chunk beside its messages, in fields that OpenAI has not: providers put there what they have searched.
 *
 * @throws GuardError `GUARD_UPSTREAM` for a message of another shape than a message.
 */
export function textsBeside(body: Json, choices: readonly Json[]): TextSlot[] {
  for (const { message, delta } of choices) {
    for (const said of [message, delta]) {
      if (said !== undefined && said !== null && !isRecord(said))
        throw upstreamError("A message of the answer is no object.");
    }
  }
  return [...unknownTexts(body, OF_BODY), ...choices.flatMap((choice) => unknownTexts(choice, OF_CHOICE))];
}

/** The tokens of a text that was changed belong to the text as it was. */
export function withoutLogprobs(choice: Json): void {
  if (choice.logprobs !== undefined) choice.logprobs = null;
}

/**
 * Reads a message of an answer: the content with the tool calls, and what stands in each other field by itself.
 *
 * @param onChange is called when a text of the message is replaced.
 */
export function partsOfMessage(message: Json, onChange: () => void): AnswerPart[] {
  const groups = new Map<string, AnswerPart>([["content", { texts: [], calls: callsOf(message) }]]);
  for (const { keys, text, set } of slotsIn(message, NOT_TEXT)) {
    // Content in parts may have reasoning among them, which is shown by itself.
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

/** Reads the tool calls of a message: those of functions, of tools whose input is a text, and the one of the first API. */
export function callsOf(message: Json): CallSlot[] {
  const legacy = recordAt(message, "function_call");
  return [
    ...recordsAt(message, "tool_calls").flatMap((call) => {
      const made = recordAt(call, "function");
      const custom = recordAt(call, "custom");
      if (made) return callSlot(made, "arguments", made.name, call.id);
      if (custom) return callSlot(custom, "input", custom.name, call.id);
      return callSlot(call, call.arguments === undefined ? "input" : "arguments", call.name, call.id);
    }),
    ...(legacy ? callSlot(legacy, "arguments", legacy.name, undefined) : []),
  ];
}
