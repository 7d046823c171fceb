import { editedStrings } from "../conversation/edited-strings.ts";
import { throwIfBlocked } from "../guard/blocked-error.ts";
import type { GuardedCall } from "../guard/guard.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { GuardError } from "../support/errors.ts";
import type { AnswerPart, RequestParts } from "./format.ts";

/**
 * Checks the parts of a request and writes back the texts that may be sent.
 *
 * @throws GuardBlockedError if the request must not be sent.
 */
export async function checkRequest(call: GuardedCall, { texts = [], chat }: RequestParts): Promise<void> {
  if (chat) {
    const { report, request } = await call.request(chat.request);
    throwIfBlocked("request", report);
    chat.set(request);
  }
  for (const { source, slots } of texts) {
    if (slots.length === 0) continue;
    const checked = await call.texts(
      slots.map(({ text }) => text),
      source,
    );
    throwIfBlocked("request", checked.report);
    assertSameLength(checked.texts, slots);
    for (const [index, slot] of slots.entries()) setText(slot, checked.texts[index] as string);
  }
}

/**
 * Checks the parts of an answer and writes back the texts that may be shown.
 *
 * @throws GuardBlockedError if the answer must not be shown.
 */
export async function checkAnswer(call: GuardedCall, parts: readonly AnswerPart[]): Promise<void> {
  for (const part of parts) await checkPart(call, part);
}

async function checkPart(call: GuardedCall, { texts, separator = "", calls = [] }: AnswerPart): Promise<void> {
  const shown = texts.filter(({ text }) => text !== "");
  if (shown.length === 0 && calls.length === 0) return;
  const text = shown.map(({ text }) => text).join(separator);
  const toolCalls = calls.map(({ call }) => call);
  const checked = await call.answer({ text, ...(toolCalls.length > 0 && { toolCalls }) });
  throwIfBlocked("answer", checked.report);
  assertSameLength(checked.toolCalls, calls);
  for (const [index, slot] of calls.entries()) {
    const args = checked.toolCalls[index]?.function.arguments as string;
    if (args !== slot.call.function.arguments) slot.set(args);
  }
  if (checked.text === text) return;
  const strings = editedStrings(joinTexts(shown, separator), checked.edits);
  for (const [index, slot] of shown.entries()) setText(slot, strings[index] ?? "");
}

/** Joins the texts of a part to one text with pieces. */
function joinTexts(slots: AnswerPart["texts"], separator: string): Pick<MessageText, "text" | "pieces"> {
  let start = 0;
  const pieces = slots.map(({ text }) => {
    const piece = { start, end: start + text.length, path: "" };
    start = piece.end + separator.length;
    return piece;
  });
  return { text: slots.map(({ text }) => text).join(separator), pieces };
}

function setText(slot: AnswerPart["texts"][number], text: string): void {
  if (text !== slot.text) slot.set(text);
}

function assertSameLength(checked: readonly unknown[], given: readonly unknown[]): void {
  if (checked.length !== given.length) {
    throw new GuardError("GUARD_UNREACHABLE", "guard returned a different number of texts than it was given.");
  }
}
