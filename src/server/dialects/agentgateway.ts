import { z } from "zod";
import { blockedMessage } from "../../guard/blocked.ts";
import type { GuardReport } from "../../guard/guard.ts";
import { ROLES } from "../../messages/chat-messages.ts";
import { type Dialect, type DialectCall, type DialectReply, endpoint } from "./dialect.ts";

/** A message as the gateways write it: whatever the format of the provider, one role and one text. */
const message = z.looseObject({
  role: z.string().describe("Who wrote it: system, user, assistant, tool, ... in any case."),
  content: z.string().describe("The text."),
});
type Message = z.output<typeof message>;

const promptRequest = z.looseObject({
  body: z.looseObject({ messages: z.array(message).describe("The whole conversation, oldest first.") }),
});

const responseRequest = z.looseObject({
  body: z.looseObject({
    choices: z.array(z.looseObject({ message })).describe("The answers, which are independent of each other."),
  }),
});

/**
 * The guardrail webhook of agentgateway: `POST /request` before the model is called, `POST /response` after it. Each is answered by an
 * action, which the gateway knows by its fields: one with a `body` of messages or choices masks, one with a text as `body` and a
 * `status_code` rejects, and any other passes. So nothing but an action of these shapes may ever be sent with `action`.
 *
 * Contract: the Guardrail Webhook API 0.1.0 (https://docs.solo.io/gateway/1.21.x/ai/guardrail-api/openapi-spec/), and the reading of its
 * actions in crates/agentgateway/src/llm/policy/webhook.rs of https://github.com/agentgateway/agentgateway.
 */
export const agentgateway: Dialect = webhook("agentgateway", { rejectsAnswers: true });

/**
 * The same webhook for gateways that keep to version 0.1.0 of the contract, in which an answer of the model passes or is masked and cannot
 * be rejected: Gloo AI Gateway, and kgateway before it used agentgateway. They would take a rejection for a pass, so the text of
 * an answer that is blocked is replaced by the sentence that says so.
 */
export const kgateway: Dialect = webhook("Guardrail webhook of Gloo AI Gateway and kgateway", {
  rejectsAnswers: false,
});

function webhook(summary: string, { rejectsAnswers }: { rejectsAnswers: boolean }): Dialect {
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
        answer: ({ body: { messages } }, asked) => judgeRequest(messages, asked),
      }),
      endpoint({
        path: "/response",
        summary: "Check the answers of a model",
        body: responseRequest,
        example: {
          request: { body: { choices: [{ message: { role: "assistant", content: "It is sunny." } }] } },
          reply: { action: { reason: "No check failed." } },
        },
        answer: ({ body: { choices } }, asked) => judgeAnswers(choices, rejectsAnswers, asked),
      }),
    ],
  };
}

async function judgeRequest(messages: readonly Message[], { call }: DialectCall): Promise<DialectReply> {
  if (messages.length === 0) return { body: passing("There was no text to check.") };
  const { report, request } = await call.request({
    messages: messages.map(({ role, content }) => ({ role: roleOf(role), content })),
  });
  if (report.outcome === "blocked") return { body: rejecting("request", report) };
  const texts = request.messages.map(({ content }) => content as string);
  if (texts.every((text, index) => text === messages[index]?.content)) return { body: passing() };
  // As many messages as were sent, or the gateway would put the texts into the wrong ones.
  return { body: masking({ messages: messages.map((sent, index) => ({ ...sent, content: texts[index] })) }) };
}

async function judgeAnswers(
  choices: readonly { message: Message }[],
  rejectsAnswers: boolean,
  { begin, scanners }: DialectCall,
): Promise<DialectReply> {
  if (choices.length === 0) return { body: passing("There was no text to check.") };
  // The gateway does not say what was asked, so nothing can be compared with it.
  const suppress = scanners.output.filter(({ scanner }) => scanner.comparesWithPrompt).map(({ name }) => name);
  const answers = await begin({ suppress }).answers(choices.map(({ message }) => message.content));
  const blocked = answers.find(({ report }) => report.outcome === "blocked");
  if (blocked && rejectsAnswers) return { body: rejecting("answer", blocked.report) };
  const texts = answers.map(({ report, text }) =>
    report.outcome === "blocked" ? blockedMessage("answer", report) : text,
  );
  if (texts.every((text, index) => text === choices[index]?.message.content)) return { body: passing() };
  const changed = choices.map((choice, index) => ({
    ...choice,
    message: { ...choice.message, content: texts[index] },
  }));
  return { body: masking({ choices: changed }) };
}

const passing = (reason = "No check failed.") => ({ action: { reason } });

const masking = (body: unknown) => ({ action: { body, reason: "Texts were rewritten by guard." } });

/** The status is that of the contract's own examples. */
function rejecting(what: "request" | "answer", report: GuardReport) {
  const sentence = blockedMessage(what, report);
  return { action: { body: sentence, status_code: 403, reason: sentence } };
}

/** Gateways write roles as the providers do, such as `User` or `model`. Who is unknown counts as a user, whom all scanners look at. */
function roleOf(role: string): string {
  const known = role.toLowerCase();
  if (known === "model") return "assistant";
  return (ROLES as readonly string[]).includes(known) ? known : "user";
}
