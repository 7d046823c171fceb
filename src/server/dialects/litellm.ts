import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { blockedMessage } from "../../guard/blocked-error.ts";
import type { GuardedCall, GuardReport } from "../../guard/guard.ts";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { Message } from "../../scan/chat-request.ts";
import { isWithheld } from "../../scan/outcome.ts";
import { isRecord } from "../../support/is-record.ts";
import { lengthIn } from "../../text/offsets.ts";
import { chatOf, message } from "../schemas/conversation.ts";
import { type Dialect, type DialectReply, endpoint } from "./dialect.ts";

/** A tool call in an answer, or a piece of one. Calls of other tools than functions have other fields. */
const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

const body = z.looseObject({
  input_type: z.enum(["request", "response"]),
  texts: z.array(z.string()).nullish().describe("The texts to check. The reply has the same number."),
  structured_messages: z.array(message).nullish().describe("The conversation of the texts of a request."),
  images: z.array(z.string()).nullish().describe("URLs of images. They are counted as not scanned."),
  tools: z.array(z.looseObject({})).nullish(),
  tool_calls: z.array(toolCall).nullish(),
});
type Body = z.output<typeof body>;

/**
 * The Generic Guardrail API of LiteLLM, whose proxy calls it before and after the model. The fields are those of LiteLLM 1.106.2
 * (`GenericGuardrailAPIRequest` and `GenericGuardrailAPIResponse`).
 *
 * `additional_provider_specific_params` is ignored, because LiteLLM mixes parameters of its configuration with those of the client, which
 * must not choose its checks.
 */
export const litellm: Dialect = {
  summary: "LiteLLM",
  endpoints: [
    endpoint({
      path: "/beta/litellm_basic_guardrail_api",
      summary: "Check a request or a response, as LiteLLM's Generic Guardrail API",
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
      answer: (request, { call }) =>
        request.input_type === "request" ? checkRequest(request, call) : checkResponse(request, call),
    }),
  ],
};

async function checkRequest(body: Body, call: GuardedCall): Promise<DialectReply> {
  const texts = body.texts ?? [];
  const tools = body.tools ?? [];
  const messages = messagesOf(body);
  const reports: GuardReport[] = [];
  let rewritten: readonly Message[] = messages;
  let rewrittenTools: readonly unknown[] = tools;
  if (messages.length > 0 || tools.length > 0) {
    const { report, request } = await call.request(chatOf({ messages, tools }));
    reports.push(report);
    rewritten = request.messages;
    rewrittenTools = request.tools ?? [];
  }
  reports.push(...(await unreadImages(body.images ?? [], reports, call)));
  const found = findInMessages(texts, messages, rewritten);
  const others = texts.filter((_, index) => found.texts[index] === undefined);
  const checked = others.length > 0 ? await call.texts(others) : undefined;
  if (checked) reports.push(checked.report);
  const blocked = blockedReply("request", reports);
  if (blocked) return blocked;

  const remaining = [...(checked?.texts ?? [])];
  const newTexts = found.texts.map((text) => text ?? (remaining.shift() as string));
  const haveToolsChanged = !isDeepStrictEqual(rewrittenTools, tools);
  // If a reply has messages and texts, LiteLLM uses the messages, and loses unknown fields of them. So messages are returned only for
  // changes outside of texts, such as in arguments of tool calls.
  const haveMessagesChanged = body.structured_messages != null && found.hasMore;
  if (haveMessagesChanged && !isDeepStrictEqual(checked?.texts ?? [], others)) {
    const reason = "The request was blocked by guard: its replaced values cannot be returned.";
    return { body: { action: "BLOCKED", blocked_reason: reason } };
  }
  if (!haveToolsChanged && !haveMessagesChanged && isDeepStrictEqual(newTexts, texts)) {
    return { body: { action: "NONE" } };
  }
  return {
    body: {
      action: "GUARDRAIL_INTERVENED",
      texts: newTexts,
      ...(haveMessagesChanged ? { structured_messages: rewritten } : {}),
      ...(haveToolsChanged ? { tools: rewrittenTools } : {}),
    },
  };
}

/** Returns the conversation of a request. Tool calls without a conversation become a message of the assistant. */
function messagesOf({ structured_messages: messages, tool_calls: calls }: Body): readonly Message[] {
  if (messages && messages.length > 0) return messages as Message[];
  return calls && calls.length > 0 ? [{ role: "assistant", content: null, tool_calls: calls }] : [];
}

/**
 * Finds texts in the messages that they come from.
 *
 * @returns the rewritten texts, with undefined for texts in no message; and whether there are changes outside of the texts.
 */
function findInMessages(
  texts: readonly string[],
  messages: readonly Message[],
  rewritten: readonly Message[],
): { texts: (string | undefined)[]; hasMore: boolean } {
  const before = contentsOf(messages);
  const after = contentsOf(rewritten);
  const used = new Set<number>();
  let next = 0;
  const found = texts.map((text) => {
    // Texts are usually in the order of the messages. Others are searched everywhere.
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

/** Returns the texts of messages as LiteLLM extracts them: string contents, and the texts of parts. */
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

async function checkResponse(body: Body, call: GuardedCall): Promise<DialectReply> {
  const texts = body.texts ?? [];
  const toolCalls = (body.tool_calls ?? []).flatMap(answeredCalls);
  const reports: GuardReport[] = await unreadImages(body.images ?? [], [], call);
  const newTexts: string[] = [];
  const held: number[] = [];
  if (toolCalls.length > 0) {
    // It is unknown which of several choices made the calls.
    const text = texts.length === 1 ? (texts[0] as string) : "";
    const answer = await call.answer({ text, toolCalls });
    reports.push(answer.report);
    if (texts.length === 1) {
      newTexts.push(answer.text);
      held.push(lengthIn("codePoint", answer.text));
    }
  }
  for (const text of texts.slice(newTexts.length)) {
    const stream = call.answerStream();
    const released = await stream.push(text);
    const rest = released.report ? { text: "", report: released.report } : await stream.end();
    if (rest.report) reports.push(rest.report);
    newTexts.push(released.text + rest.text);
    held.push(lengthIn("codePoint", rest.text));
  }
  const blocked = blockedReply("answer", reports);
  if (blocked) return blocked;
  // For a stream LiteLLM sends the text so far. The part that would still be held back must not be shown.
  const holdback = texts.length > 0 ? { stream_holdback_chars: held } : {};
  return isDeepStrictEqual(newTexts, texts)
    ? { body: { action: "NONE", ...holdback } }
    : { body: { action: "GUARDRAIL_INTERVENED", texts: newTexts, ...holdback } };
}

/**
 * Returns a tool call in the format of chat completions. The fields of a call of another tool, or a second input beside a function, are checked
 * as the arguments of another call.
 */
function answeredCalls({ id, function: called, ...rest }: z.output<typeof toolCall>): AnsweredToolCall[] {
  const call = (name: string, args: string): AnsweredToolCall => ({
    ...(typeof id === "string" ? { id } : {}),
    type: "function",
    function: { name, arguments: args },
  });
  if (!called) return [call("", JSON.stringify(rest))];
  const name = called.name ?? "";
  const inputs = [called.input, rest.custom, rest.input].filter((input) => input !== undefined && input !== null);
  return [call(name, called.arguments ?? ""), ...inputs.map((input) => call(name, JSON.stringify(input)))];
}

/** Counts images that are in no message as not scanned. */
async function unreadImages(
  images: readonly string[],
  reports: readonly GuardReport[],
  call: GuardedCall,
): Promise<GuardReport[]> {
  const countedParts = reports.reduce((sum, { coverage }) => sum + coverage.partsSkipped, 0);
  if (images.length <= countedParts) return [];
  const content = images.slice(countedParts).map((url) => ({ type: "image_url", image_url: { url } }));
  const { report } = await call.request({ messages: [{ role: "user", content }] });
  return [report];
}

function blockedReply(what: "request" | "answer", reports: readonly GuardReport[]): DialectReply | undefined {
  const report = reports.find(isWithheld);
  return report && { body: { action: "BLOCKED", blocked_reason: blockedMessage(what, report) } };
}
