import { editedStrings } from "../conversation/edited-strings.ts";
import { throwIfBlocked } from "../guard/blocked.ts";
import type { GuardedCall } from "../guard/guard.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { GuardError } from "../support/errors.ts";
import type { AnswerPart, RequestParts } from "./format.ts";

/**
 * Judges what was read of a request, and puts back what may be sent.
 *
 * @throws GuardBlockedError when it must not be sent.
 */
export async function judgeRequest(call: GuardedCall, { texts = [], chat }: RequestParts): Promise<void> {
  for (const { source, slots } of texts) {
    if (slots.length === 0) continue;
    const checked = await call.texts(
      slots.map(({ text }) => text),
      source,
    );
    throwIfBlocked("request", checked.report);
    sameLength(checked.texts, slots);
    for (const [index, slot] of slots.entries()) change(slot, checked.texts[index] as string);
  }
  if (!chat) return;
  const { report, request } = await call.request(chat.request);
  throwIfBlocked("request", report);
  chat.set(request);
}

/**
 * Judges the parts of an answer, and puts back what may be shown.
 *
 * @throws GuardBlockedError when nothing of it may be shown.
 */
export async function judgeAnswer(call: GuardedCall, parts: readonly AnswerPart[]): Promise<void> {
  for (const part of parts) await judgePart(call, part);
}

async function judgePart(call: GuardedCall, { texts, separator = "", calls = [] }: AnswerPart): Promise<void> {
  const shown = texts.filter(({ text }) => text !== "");
  if (shown.length === 0 && calls.length === 0) return;
  const text = shown.map(({ text }) => text).join(separator);
  const toolCalls = calls.map(({ call }) => call);
  const checked = await call.answer({ text, ...(toolCalls.length > 0 && { toolCalls }) });
  throwIfBlocked("answer", checked.report);
  sameLength(checked.toolCalls, calls);
  for (const [index, slot] of calls.entries()) {
    const args = checked.toolCalls[index]?.function.arguments as string;
    if (args !== slot.call.function.arguments) slot.set(args);
  }
  if (checked.text === text) return;
  const strings = editedStrings(joined(shown, separator), checked.edits);
  for (const [index, slot] of shown.entries()) change(slot, strings[index] ?? "");
}

/** The texts of a part as the strings of one text. */
function joined(slots: AnswerPart["texts"], separator: string): Pick<MessageText, "text" | "pieces"> {
  let start = 0;
  const pieces = slots.map(({ text }) => {
    const piece = { start, end: start + text.length, path: "" };
    start = piece.end + separator.length;
    return piece;
  });
  return { text: slots.map(({ text }) => text).join(separator), pieces };
}

function change(slot: AnswerPart["texts"][number], text: string): void {
  if (text !== slot.text) slot.set(text);
}

function sameLength(checked: readonly unknown[], given: readonly unknown[]): void {
  if (checked.length !== given.length) {
    throw new GuardError("GUARD_UNREACHABLE", "guard returned another number of texts than it was given.");
  }
}
