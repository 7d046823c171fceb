import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlot, slot, slotsIn } from "../slots.ts";

/** The texts are shown as one, with nothing between them: a text with citations comes in several blocks. */
export function partsOfAnswer(body: Json): AnswerPart[] {
  const { content } = body;
  if (!Array.isArray(content) || !content.every(isRecord)) throw upstreamError("The answer has no content.");
  const texts: TextSlot[] = [];
  const calls: CallSlot[] = [];
  const beside: AnswerPart[] = [];
  for (const block of content) {
    texts.push(...(block.type === "text" ? slot(block, "text") : []));
    calls.push(...callsOfBlock(block));
    beside.push(...besideBlock(block));
  }
  return [{ texts, calls }, ...beside];
}

/** Blocks whose texts are read by themselves, or that hold none. Results of tools that run at Anthropic are no words of the model. */
const READ = /^(?:text|thinking|redacted_thinking|container_upload|.*tool_use|.*tool_result)$/;

/** What a block says beside the answer: thinking, the passages that it quotes, and anything in a block of an unknown type. */
export function besideBlock(block: Json): AnswerPart[] {
  const isKnown = typeof block.type === "string" && READ.test(block.type);
  return [
    { texts: block.type === "thinking" ? slot(block, "thinking") : [] },
    { texts: slotsIn(block.type === "text" ? block.citations : undefined), separator: "\n" },
    { texts: isKnown ? [] : slotsIn(block), separator: "\n" },
  ];
}

/** The tool call of a block that is one. */
export function callsOfBlock(block: Json): CallSlot[] {
  const isCall = typeof block.type === "string" && block.type.endsWith("tool_use");
  return isCall ? callSlot(block, "input", block.name, block.id) : [];
}
