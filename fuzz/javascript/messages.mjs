// Requests of all supported formats: each is read or rejected, its texts are at their paths, and without replacements it stays
// unchanged.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { readConversation } from "../../dist/messages/read-conversation.js";
import { GuardValidationError } from "../../dist/support/errors.js";
import { mutatedJson } from "./mutate.mjs";

const folder = new URL("../../test/messages/shapes/", import.meta.url);
const shapes = readdirSync(folder)
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")))
  .map(({ request }) => request);

export const property = fc.property(mutatedJson(shapes), (request) => {
  let conversation;
  try {
    conversation = readConversation(request);
  } catch (error) {
    if (error instanceof GuardValidationError && error.issues.length > 0) return;
    // A request that is not an object is a type error.
    if (typeof request !== "object" || request === null) return;
    throw error;
  }
  for (const { text, pieces } of conversation.texts) {
    let end = 0;
    for (const piece of pieces) {
      assert(piece.start >= end && piece.end >= piece.start && piece.end <= text.length);
      end = piece.end;
    }
  }
  assert.deepEqual(conversation.rewrite(new Map()), request);
  const replaced = new Map(conversation.texts.map((text) => [text, text.pieces.map(() => "[REDACTED]")]));
  conversation.rewrite(replaced);
});
