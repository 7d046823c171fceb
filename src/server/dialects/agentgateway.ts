import { z } from "zod";
import { blockedMessage } from "../../guard/blocked-error.ts";
import type { GuardReport } from "../../guard/guard.ts";
import { ROLES } from "../../messages/chat-messages.ts";
import { isWithheld } from "../../scan/outcome.ts";
import { type Dialect, type DialectCall, type DialectReply, endpoint } from "./dialect.ts";

/** A message of the gateways: one role and one text for every provider. */
const message = z.looseObject({
  role: z.string().describe("The author: system, user, assistant, tool, ... in any case."),
  content: z.string().describe("The text."),
});
type Message = z.output<typeof message>;

const promptRequest = z.looseObject({
  body: z.looseObject({ messages: z.array(message).describe("The whole conversation, oldest first.") }),
});

const responseRequest = z.looseObject({
  body: z.looseObject({
    choices: z
      .array(z.looseObject({ message }))
      .describe("The responses of the model, which are independent of each other."),
  }),
});

/**
 * The guardrail webhook of agentgateway: `POST /request` before the model is called, `POST /response` after it. The gateway recognizes an
 * action by its fields: a `body` with messages or choices masks, a text as `body` with a `status_code` rejects, and anything else passes.
 * So `action` must always have one of these shapes.
 *
 * Contract: the Guardrail Webhook API 0.1.0 (https://docs.solo.io/gateway/1.21.x/ai/guardrail-api/openapi-spec/), and the implementation
 * in crates/agentgateway/src/llm/policy/webhook.rs of https://github.com/agentgateway/agentgateway.
 */
export const agentgateway: Dialect = webhook("agentgateway", { canRejectAnswers: true });

/**
 * The same webhook for gateways with version 0.1.0 of the contract, where a response of the model can be masked but not rejected: Gloo AI
 * Gateway, and kgateway before it used agentgateway. They would treat a rejection as a pass, so a blocked response is replaced by a
 * message.
 */
export const kgateway: Dialect = webhook("Guardrail webhook of Gloo AI Gateway and kgateway", {
  canRejectAnswers: false,
});

function webhook(summary: string, { canRejectAnswers }: { canRejectAnswers: boolean }): Dialect {
  return {
    summary,
    endpoints: [
      endpoint({
        path: "/request",
        summary: "Check the messages of a request to a model",
        body: promptRequest,
        example: {
          request: { body: { messages: [{ role: "user", content: "Write to ann@example.org." }] } },
          reply: {
            action: {
              body: { messages: [{ role: "user", content: "Write to [REDACTED_EMAIL_ADDRESS_1]." }] },
              reason: "Texts were rewritten by guard.",
            },
          },
        },
        answer: ({ body: { messages } }, call) => checkRequest(messages, call),
      }),
      endpoint({
        path: "/response",
        summary: "Check the responses of a model",
        body: responseRequest,
        example: {
          request: { body: { choices: [{ message: { role: "assistant", content: "It is sunny." } }] } },
          reply: { action: { reason: "No check failed." } },
        },
        answer: ({ body: { choices } }, call) => checkAnswers(choices, canRejectAnswers, call),
      }),
    ],
  };
}

async function checkRequest(messages: readonly Message[], { call }: DialectCall): Promise<DialectReply> {
  if (messages.length === 0) return { body: passing("There was no text to check.") };
  const { report, request } = await call.request({
    messages: messages.map(({ role, content }) => ({ role: roleOf(role), content })),
  });
  if (isWithheld(report)) return { body: rejecting("request", report) };
  const texts = request.messages.map(({ content }) => content as string);
  if (texts.every((text, index) => text === messages[index]?.content)) return { body: passing() };
  // The gateway matches messages by position, so their number must not change.
  return { body: masking({ messages: messages.map((message, index) => ({ ...message, content: texts[index] })) }) };
}

async function checkAnswers(
  choices: readonly { message: Message }[],
  canRejectAnswers: boolean,
  { begin, scanners }: DialectCall,
): Promise<DialectReply> {
  if (choices.length === 0) return { body: passing("There was no text to check.") };
  // The gateway does not send the prompt, so nothing can be compared with it.
  const suppress = scanners.output.filter(({ scanner }) => scanner.comparesWithPrompt).map(({ name }) => name);
  const answers = await begin({ suppress }).answers(choices.map(({ message }) => message.content));
  const blocked = answers.find(({ report }) => isWithheld(report));
  if (blocked && canRejectAnswers) return { body: rejecting("answer", blocked.report) };
  const texts = answers.map(({ report, text }) => (isWithheld(report) ? blockedMessage("answer", report) : text));
  if (texts.every((text, index) => text === choices[index]?.message.content)) return { body: passing() };
  const changed = choices.map((choice, index) => ({
    ...choice,
    message: { ...choice.message, content: texts[index] },
  }));
  return { body: masking({ choices: changed }) };
}

const passing = (reason = "No check failed.") => ({ action: { reason } });

const masking = (body: unknown) => ({ action: { body, reason: "Texts were rewritten by guard." } });

/** The status is that of the examples of the contract. */
function rejecting(what: "request" | "answer", report: GuardReport) {
  const sentence = blockedMessage(what, report);
  return { action: { body: sentence, status_code: 403, reason: sentence } };
}

/** Gateways use the roles of providers, such as `User` or `model`. An unknown author counts as a user, whom all scanners check. */
function roleOf(role: string): string {
  const lowercase = role.toLowerCase();
  return (ROLES as readonly string[]).includes(lowercase) ? lowercase : "user";
}
