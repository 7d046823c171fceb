import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findSlots, slotAt } from "../slots.ts";

/** Reads an answer. Its texts are displayed as one without separators, because a text with citations consists of several blocks. */
export function readAnswerParts(body: Json): AnswerPart[] {
  const { content } = body;
  if (!Array.isArray(content) || !content.every(isRecord)) throw upstreamError("The answer has no content.");
  const texts: TextSlot[] = [];
  const calls: CallSlot[] = [];
  const extras: AnswerPart[] = [];
  for (const block of content) {
    texts.push(...(block.type === "text" ? slotAt(block, "text") : []));
    calls.push(...readBlockCalls(block));
    extras.push(...readBlockExtras(block));
  }
  return [{ texts, calls }, ...extras];
}

/** Blocks with readers of their own, or without text of the model: results of tools at Anthropic are not written by the model. */
const KNOWN_BLOCKS = /^(?:text|thinking|redacted_thinking|container_upload|.*tool_use|.*tool_result)$/;

/** Reads the texts of a block beside the answer: thinking, citations, and all strings of an unknown block. */
export function readBlockExtras(block: Json): AnswerPart[] {
  const isKnown = typeof block.type === "string" && KNOWN_BLOCKS.test(block.type);
  return [
    { texts: block.type === "thinking" ? slotAt(block, "thinking") : [] },
    { texts: findSlots(block.type === "text" ? block.citations : undefined), separator: "\n" },
    { texts: isKnown ? [] : findSlots(block), separator: "\n" },
  ];
}

/** Reads the tool call of a block, if it is one. */
export function readBlockCalls(block: Json): CallSlot[] {
  const isCall = typeof block.type === "string" && block.type.endsWith("tool_use");
  return isCall ? callSlotAt(block, "input", block.name, block.id) : [];
}
