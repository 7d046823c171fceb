import type { ChatRequest } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { readChatMessage } from "./chat-messages.ts";
import { contentContext, readContent } from "./content.ts";
import type { Conversation } from "./conversation.ts";
import { invalidAt } from "./part-reader.ts";
import { readRequestFields } from "./request-fields.ts";
import { FIELDS, RequestReader, type SlotPiece } from "./request-reader.ts";
import { rewriteRequest } from "./request-rewrite.ts";
import { isResponseItem, readResponseItem } from "./response-items.ts";
import { readTools } from "./tool-definitions.ts";

/**
 * Reads all texts of a request to a model, each with its source. docs/what-is-read.md lists the formats.
 *
 * @throws GuardValidationError for an empty list of messages, an unknown role, and content of another shape or with too deep nesting. Its
 *   path has dots: `messages.5.content.0`.
 */
export function readConversation(request: ChatRequest): Conversation {
  const steps = readSteps(request);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Does what {@link readConversation} does, in time slices: a request may have tens of thousands of messages.
 *
 * @param signal aborts the work. The promise then rejects with its reason.
 */
export async function readConversationInSlices(request: ChatRequest, signal?: AbortSignal): Promise<Conversation> {
  const slice = new TimeSlice(signal);
  const steps = readSteps(request);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slice.isOver) await slice.next();
  }
}

/** Reads a request and yields after each message, so that the caller can pause. */
function* readSteps(request: ChatRequest): Generator<undefined, Conversation> {
  const { messages, tools, system, fields } = request;
  // The fields may be all that a format has, such as that of embeddings.
  if (!Array.isArray(messages) || (messages.length === 0 && !fields)) {
    throw invalidAt(["messages"], "expected an array of at least one message");
  }
  const reader = new RequestReader();
  readContent(system, contentContext(reader, reader.open(["system"], { source: "system" }), ["system"]));
  readTools(tools, ["tools"], reader);
  if (isRecord(fields)) readRequestFields(fields, reader);
  else if (fields !== undefined && fields !== null) throw invalidAt([FIELDS], "expected an object");
  for (const [index, message] of messages.entries()) {
    if (!isRecord(message)) throw invalidAt(["messages", index], "expected an object with role and content");
    // The copy reads each field once, because a getter could return another text later.
    const copy = { ...message };
    if (isResponseItem(copy)) readResponseItem(copy, index, reader);
    else readChatMessage(copy, index, reader);
    yield;
  }
  const placed = new Map<MessageText, readonly SlotPiece[]>();
  for (const draft of reader.drafts) {
    if (draft.isKept || draft.pieces.length > 0 || draft.skipped > 0) placed.set(draft.finish(), draft.pieces);
    yield;
  }
  return {
    texts: [...placed.keys()],
    size: messages.length,
    stateElsewhere: [...reader.stateElsewhere],
    rewrite(replacements) {
      const replaced = new Map<SlotPiece, string>();
      for (const [text, strings] of replacements) {
        const pieces = placed.get(text);
        if (!pieces)
          throw new GuardValidationError([{ path: text.path, message: "is not a text of this conversation" }]);
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
