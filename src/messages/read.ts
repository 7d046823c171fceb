import type { ChatRequest } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { readChatMessage } from "./chat.ts";
import type { Conversation } from "./conversation.ts";
import { fault } from "./part.ts";
import { contentAt, readContent } from "./parts.ts";
import { type PlacedPiece, Reading } from "./reading.ts";
import { isItem, readItem } from "./responses.ts";
import { rewriteRequest } from "./rewrite.ts";
import { readTools } from "./tools.ts";

/**
 * Reads all texts of a request to a model, each with its source. docs/what-is-read.md says what is read of which shape.
 *
 * @throws GuardValidationError for an empty list of messages, an unknown role, and content that has another shape or is nested too
 * deeply. Its path has points: `messages.5.content.0`.
 */
export function readConversation(request: ChatRequest): Conversation {
  const steps = reading(request);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Does what {@link readConversation} does, and lets the event loop go on meanwhile: a request may have tens of thousands of messages.
 *
 * @param signal ends the work. The promise then rejects with its reason.
 */
export async function readConversationInSlices(request: ChatRequest, signal?: AbortSignal): Promise<Conversation> {
  const slice = new TimeSlice(signal);
  const steps = reading(request);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slice.isOver) await slice.next();
  }
}

/** Reads a request. After each message others may have their turn. */
function* reading(request: ChatRequest): Generator<undefined, Conversation> {
  const { messages, tools, system } = request;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw fault(["messages"], "expected an array of at least one message");
  }
  const reading = new Reading();
  readContent(system, contentAt(reading, reading.open(["system"], { source: "system" }), ["system"]));
  readTools(tools, ["tools"], reading);
  for (const [index, message] of messages.entries()) {
    if (!isRecord(message)) throw fault(["messages", index], "expected an object with role and content");
    // A copy, so that each field is read once: what a getter says later would be another text.
    const copy = { ...message };
    if (isItem(copy)) readItem(copy, index, reading);
    else readChatMessage(copy, index, reading);
    yield;
  }
  const placed = new Map<MessageText, readonly PlacedPiece[]>();
  for (const draft of reading.drafts) {
    if (draft.keep || draft.pieces.length > 0 || draft.skipped > 0) placed.set(draft.finish(), draft.pieces);
    yield;
  }
  return {
    texts: [...placed.keys()],
    size: messages.length,
    rewritten(replacements) {
      const replaced = new Map<PlacedPiece, string>();
      for (const [text, strings] of replacements) {
        const pieces = placed.get(text);
        if (!pieces) throw new GuardValidationError([{ path: text.path, message: "is no text of this conversation" }]);
        if (strings.length !== pieces.length) {
          throw new GuardValidationError([
            {
              path: text.path,
              message: `expected ${pieces.length} strings, one for each piece, not ${strings.length}`,
            },
          ]);
        }
        for (const [index, piece] of pieces.entries()) {
          const string = strings[index] as string;
          if (string !== piece.value) replaced.set(piece, string);
        }
      }
      return replaced.size === 0 ? request : rewriteRequest(request, replaced);
    },
  };
}
