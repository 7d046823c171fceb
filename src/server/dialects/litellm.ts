import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { blockedMessage } from "../../guard/blocked.ts";
import type { GuardedCall, GuardReport } from "../../guard/guard.ts";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { Message } from "../../scan/chat-request.ts";
import { isRecord } from "../../support/is-record.ts";
import { lengthIn } from "../../text/offsets.ts";
import { chatOf, message } from "../schemas/conversation.ts";
import { type Dialect, type DialectReply, endpoint } from "./dialect.ts";

/** A tool call in an answer, or a piece of one. Calls of tools that are no functions have other fields. */
const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

const body = z.looseObject({
  input_type: z.enum(["request", "response"]),
  texts: z.array(z.string()).nullish().describe("The texts to check. The reply has as many."),
  structured_messages: z.array(message).nullish().describe("The conversation that the texts of a request come from."),
  images: z.array(z.string()).nullish().describe("URLs of images. They are counted as not scanned."),
  tools: z.array(z.looseObject({})).nullish(),
  tool_calls: z.array(toolCall).nullish(),
});
type Body = z.output<typeof body>;

/**
 * The Generic Guardrail API of LiteLLM: its proxy asks before a request goes to a model, and when an answer is there. The fields are
 * those of LiteLLM 1.106.2 (`GenericGuardrailAPIRequest` and `GenericGuardrailAPIResponse`).
 *
 * Parameters that the proxy passes on (`additional_provider_specific_params`) are not read, because LiteLLM mixes those of its
 * configuration with those of the client, who must not choose how it is checked.
 */
export const litellm: Dialect = {
  summary: "LiteLLM",
  endpoints: [
    endpoint({
      path: "/beta/litellm_basic_guardrail_api",
      summary: "Check a request or an answer, as LiteLLM's Generic Guardrail API asks for it",
      body,
      example: {
        request: {
          input_type: "request",
          texts: ["Mail ann@example.org."],
          structured_messages: [{ role: "user", content: "Mail ann@example.org." }],
          request_data: {},
        },
        reply: { action: "GUARDRAIL_INTERVENED", texts: ["Mail [REDACTED_EMAIL_ADDRESS_1]."] },
      },
      answer: (asked, { call }) =>
        asked.input_type === "request" ? judgedRequest(asked, call) : judgedResponse(asked, call),
    }),
  ],
};

async function judgedRequest(asked: Body, call: GuardedCall): Promise<DialectReply> {
  const texts = asked.texts ?? [];
  const tools = asked.tools ?? [];
  const messages = messagesOf(asked);
  const reports: GuardReport[] = [];
  let rewritten: readonly Message[] = messages;
  let rewrittenTools: readonly unknown[] = tools;
  if (messages.length > 0 || tools.length > 0) {
    const { report, request } = await call.request(chatOf({ messages, tools }));
    reports.push(report);
    rewritten = request.messages;
    rewrittenTools = request.tools ?? [];
  }
  reports.push(...(await unreadImages(asked.images ?? [], reports, call)));
  const found = inMessages(texts, messages, rewritten);
  const others = texts.filter((_, index) => found.texts[index] === undefined);
  const checked = others.length > 0 ? await call.texts(others) : undefined;
  if (checked) reports.push(checked.report);
  const blocked = blockedReply("request", reports);
  if (blocked) return blocked;

  const left = [...(checked?.texts ?? [])];
  const given = found.texts.map((text) => text ?? (left.shift() as string));
  const toolsChanged = !isDeepStrictEqual(rewrittenTools, tools);
  // LiteLLM takes the messages of a reply in place of its texts, where there are both. It forgets fields of messages that it does not
  // know, so they are only sent where texts cannot carry the change: into the arguments of tool calls.
  const messagesChanged = asked.structured_messages != null && found.hasMore;
  if (messagesChanged && !isDeepStrictEqual(checked?.texts ?? [], others)) {
    const reason = "The request was blocked by guard: what has to be replaced in it cannot be handed back.";
    return { body: { action: "BLOCKED", blocked_reason: reason } };
  }
  if (!toolsChanged && !messagesChanged && isDeepStrictEqual(given, texts)) {
    return { body: { action: "NONE" } };
  }
  return {
    body: {
      action: "GUARDRAIL_INTERVENED",
      texts: given,
      ...(messagesChanged ? { structured_messages: rewritten } : {}),
      ...(toolsChanged ? { tools: rewrittenTools } : {}),
    },
  };
}

/** The conversation of a request. Tool calls of endpoints without a conversation are judged as those of an answer in one. */
function messagesOf({ structured_messages: messages, tool_calls: calls }: Body): readonly Message[] {
  if (messages && messages.length > 0) return messages as Message[];
  return calls && calls.length > 0 ? [{ role: "assistant", content: null, tool_calls: calls }] : [];
}

/**
 * Looks texts up in the messages that they come from, and says what became of them there.
 *
 * @returns the texts, with undefined for those that are in no message; and whether there are changes that none of them carries.
 */
function inMessages(
  texts: readonly string[],
  messages: readonly Message[],
  rewritten: readonly Message[],
): { texts: (string | undefined)[]; hasMore: boolean } {
  const before = contentsOf(messages);
  const after = contentsOf(rewritten);
  const used = new Set<number>();
  let next = 0;
  const found = texts.map((text) => {
    // The texts stand in the order of the messages. A text that is out of this order is looked for everywhere.
    let at = before.indexOf(text, next);
    if (at < 0) at = before.findIndex((known, index) => known === text && !used.has(index));
    if (at < 0) return undefined;
    used.add(at);
    next = at + 1;
    return after[at];
  });
  const hasMore =
    before.some((text, index) => after[index] !== text && !used.has(index)) ||
    !isDeepStrictEqual(messages.map(withoutTexts), rewritten.map(withoutTexts));
  return { texts: found, hasMore };
}

/** The texts of messages, as LiteLLM takes them out of messages: contents that are strings, and the texts of parts. */
function contentsOf(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) =>
    (Array.isArray(content) ? content : [content]).flatMap((part: unknown) => {
      const text = isRecord(part) ? part.text : part;
      return typeof text === "string" ? [text] : [];
    }),
  );
}

function withoutTexts({ content, ...message }: Message): unknown {
  const parts = (Array.isArray(content) ? content : [content]).map((part: unknown) => {
    if (!isRecord(part)) return typeof part === "string" ? "" : part;
    return typeof part.text === "string" ? { ...part, text: "" } : part;
  });
  return { ...message, parts };
}

async function judgedResponse(asked: Body, call: GuardedCall): Promise<DialectReply> {
  const texts = asked.texts ?? [];
  const toolCalls = (asked.tool_calls ?? []).map(answeredCall);
  const reports: GuardReport[] = await unreadImages(asked.images ?? [], [], call);
  const given: string[] = [];
  const held: number[] = [];
  if (toolCalls.length > 0) {
    // Of several choices it is not known which one made the calls.
    const text = texts.length === 1 ? (texts[0] as string) : "";
    const answer = await call.answer({ text, toolCalls });
    reports.push(answer.report);
    if (texts.length === 1) {
      given.push(answer.text);
      held.push(lengthIn("codePoint", answer.text));
    }
  }
  for (const text of texts.slice(given.length)) {
    const stream = call.answerStream();
    const released = await stream.push(text);
    const rest = released.report ? { text: "", report: released.report } : await stream.end();
    if (rest.report) reports.push(rest.report);
    given.push(released.text + rest.text);
    held.push(lengthIn("codePoint", rest.text));
  }
  const blocked = blockedReply("answer", reports);
  if (blocked) return blocked;
  // A stream looks like a whole answer here: LiteLLM sends the text so far. What our own stream would still hold must wait.
  const holdback = texts.length > 0 ? { stream_holdback_chars: held } : {};
  return isDeepStrictEqual(given, texts)
    ? { body: { action: "NONE", ...holdback } }
    : { body: { action: "GUARDRAIL_INTERVENED", texts: given, ...holdback } };
}

/** A tool call in the shape of chat completions. What else a call has is judged as its arguments. */
function answeredCall({ id, function: called, ...rest }: z.output<typeof toolCall>): AnsweredToolCall {
  return {
    ...(typeof id === "string" ? { id } : {}),
    type: "function",
    function: { name: called?.name ?? "", arguments: called ? (called.arguments ?? "") : JSON.stringify(rest) },
  };
}

/** Counts images that are in no message as not scanned. */
async function unreadImages(
  images: readonly string[],
  reports: readonly GuardReport[],
  call: GuardedCall,
): Promise<GuardReport[]> {
  const counted = reports.reduce((sum, { coverage }) => sum + coverage.partsSkipped, 0);
  if (images.length <= counted) return [];
  const content = images.slice(counted).map((url) => ({ type: "image_url", image_url: { url } }));
  const { report } = await call.request({ messages: [{ role: "user", content }] });
  return [report];
}

function blockedReply(what: "request" | "answer", reports: readonly GuardReport[]): DialectReply | undefined {
  const report = reports.find(({ outcome }) => outcome === "blocked");
  return report && { body: { action: "BLOCKED", blocked_reason: blockedMessage(what, report) } };
}
