import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findLongTexts, findSlots, findUnknownTexts, parseNames, slotAt } from "../slots.ts";

/** Fields of an answer with ids, words and numbers. */
const NAME_FIELDS = parseNames("id model stop_reason stop_sequence usage container");
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([...NAME_FIELDS, "content", "error"]);

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
  return [{ texts, calls }, ...extras, readMessageExtras(body)];
}

/** Reads texts in the fields of an answer, or of an event, beside its content. */
export function readMessageExtras(body: Json): AnswerPart {
  return { texts: [...findUnknownTexts(body, MESSAGE_FIELDS), ...findLongTexts(body, NAME_FIELDS)], separator: "\n" };
}

/** The types of blocks whose text is in a field with the name of the type. */
const TEXT_BLOCKS: ReadonlySet<string> = new Set(["text", "thinking"]);

/** Reads the texts of a block beside the answer: thinking, citations, results of tools at Anthropic, and unknown fields. */
export function readBlockExtras(block: Json): AnswerPart[] {
  const type = typeof block.type === "string" ? block.type : "";
  const join = (texts: TextSlot[]): AnswerPart => ({ texts, separator: "\n" });
  if (TEXT_BLOCKS.has(type)) {
    const isText = typeof block[type] === "string";
    return [
      { texts: type === "thinking" ? slotAt(block, "thinking") : [] },
      join(findSlots(block.citations)),
      join([...(isText ? [] : findSlots(block[type])), ...findUnknownTexts(block, new Set([type, "citations"]))]),
    ];
  }
  if (type === "redacted_thinking") return [join(findUnknownTexts(block, new Set(["data"])))];
  if (type.endsWith("tool_use")) return [join(findUnknownTexts(block, new Set(["input", "name"])))];
  return [join(findSlots(block))];
}

/** Reads the tool call of a block, if it is one. */
export function readBlockCalls(block: Json): CallSlot[] {
  const isCall = typeof block.type === "string" && block.type.endsWith("tool_use");
  return isCall ? callSlotAt(block, "input", block.name, block.id) : [];
}
