import { z } from "zod";
import { blockedMessage, GuardBlockedError } from "../../guard/blocked-error.ts";
import type { GuardedCall, GuardReport } from "../../guard/guard.ts";
import { checkAnswer, checkRequest } from "../../http-formats/exchange-check.ts";
import type { Format, Json } from "../../http-formats/format.ts";
import { findFormat } from "../../http-formats/formats.ts";
import { readRequestParts } from "../../http-formats/request-parts.ts";
import { Problem } from "../../http-server/problem.ts";
import { type Outcome, worstOutcome } from "../../scan/outcome.ts";
import { type Dialect, type DialectCall, type DialectReply, endpoint } from "./dialect.ts";

const json = z.record(z.string(), z.unknown());

const body = z.looseObject({
  eventType: z.enum(["beforeRequestHook", "afterRequestHook"]),
  requestType: z.string().describe("chatComplete, complete, embed or messages"),
  request: z.looseObject({ json, isStreamingRequest: z.boolean().nullish() }),
  response: z
    .looseObject({ json: json.nullish(), statusCode: z.number().nullish() })
    .nullish()
    .describe("The response of the model, after the call."),
});
type Body = z.output<typeof body>;

/** The path of OpenAI or Anthropic with the same body format, by type of request. */
const PATHS: Record<string, string> = {
  chatComplete: "/v1/chat/completions",
  complete: "/v1/completions",
  embed: "/v1/embeddings",
  messages: "/v1/messages",
};

/**
 * The field of a request that keeps the sealed vault during the call. The gateway sends the rewritten request to the webhook after the
 * call, and only known fields to the provider.
 */
const VAULT = "guard_vault";

/** The webhook of Portkey's gateway (`default.webhook`), as in version 1.15.2 of its package. */
export const portkey: Dialect = {
  summary: "Portkey",
  endpoints: [
    endpoint({
      path: "/portkey",
      summary: "Check a request or a response, as a webhook of Portkey's gateway",
      body,
      example: {
        request: {
          eventType: "beforeRequestHook",
          requestType: "chatComplete",
          request: { json: { model: "m", messages: [{ role: "user", content: "Mail ann@example.org." }] } },
          response: { json: {}, text: "", statusCode: null },
        },
        reply: {
          verdict: true,
          data: { outcome: "masked" },
          transformedData: {
            request: {
              json: { model: "m", messages: [{ role: "user", content: "Mail [REDACTED_EMAIL_ADDRESS_1]." }] },
            },
          },
        },
      },
      answer: (hook, call) => (hook.eventType === "beforeRequestHook" ? beforeCall(hook, call) : afterCall(hook, call)),
    }),
  ],
};

/** Why streams are refused. */
const NO_STREAMS =
  "The request was blocked by guard: Portkey's gateway has no check for streamed answers. Ask for one without a stream.";

/** Whether a request asks for a stream. */
function isStream({ request }: Body): boolean {
  return request.isStreamingRequest === true || request.json.stream === true;
}

function formatFor({ requestType }: Body): Format {
  const format = Object.hasOwn(PATHS, requestType) ? findFormat(PATHS[requestType] as string) : undefined;
  if (format) return format;
  const detail = `must be one of ${Object.keys(PATHS).join(", ")}`;
  throw new Problem(422, "The body has the wrong shape.", { errors: [{ pointer: "/requestType", detail }] });
}

async function beforeCall(hook: Body, { call, vaults, restores, scanners }: DialectCall): Promise<DialectReply> {
  const format = formatFor(hook);
  // The gateway ignores the verdict about the answer of a stream, so a stream must not begin.
  if (isStream(hook) && scanners.output.length > 0) return { body: refused("blocked", NO_STREAMS) };
  // Ignore a vault field of the client.
  const { [VAULT]: clientVault, ...request } = hook.request.json;
  const before = JSON.stringify(request);
  const parts = readRequestParts(format, request, { unguarded: "refuse" });
  return decide(call, async (observed) => {
    await checkRequest(observed, parts);
    if (restores && format.readAnswer && call.vault.size > 0) request[VAULT] = vaults.seal(call.vault);
    return clientVault === undefined && JSON.stringify(request) === before ? undefined : { request: { json: request } };
  });
}

async function afterCall(hook: Body, { begin, vaults }: DialectCall): Promise<DialectReply> {
  const format = formatFor(hook);
  const { json: answer, statusCode } = hook.response ?? {};
  // Errors of the provider are no output of a model.
  if (typeof statusCode === "number" && statusCode >= 400) return passed([]);
  if (!format.readAnswer) return passed([]);
  if (!answer || isStream(hook)) return { body: refused("blocked", NO_STREAMS) };
  const { [VAULT]: token, ...request } = hook.request.json;
  const { texts = [], chat } = readRequestParts(format, request, { unguarded: "pass" });
  const { messages = [], ...sent } = chat?.request ?? {};
  // A format without a chat has its prompt among the texts.
  const prompt = texts.flatMap(({ slots }) => slots.map(({ text }) => text)).at(-1) ?? "";
  const sentMessages = messages.length > 0 ? messages : [{ role: "user" as const, content: prompt }];
  const vault = typeof token === "string" ? { vault: vaults.open(token) } : {};
  const call = begin({ sent: { messages: sentMessages, ...sent }, ...vault });
  const before = JSON.stringify(answer);
  const parts = format.readAnswer(answer as Json);
  return decide(call, async (observed) => {
    await checkAnswer(observed, parts);
    return JSON.stringify(answer) === before ? undefined : { response: { json: answer } };
  });
}

/** Runs checks, and returns the decision for the gateway. Its client gets the message, which does not quote texts. */
async function decide(
  call: GuardedCall,
  check: (observed: GuardedCall) => Promise<object | undefined>,
): Promise<DialectReply> {
  const reports: GuardReport[] = [];
  try {
    const transformedData = await check(observeCall(call, reports));
    return passed(reports, transformedData);
  } catch (error) {
    if (!(error instanceof GuardBlockedError)) throw error;
    return { body: refused(error.outcome, blockedMessage(error.part, error.report)) };
  }
}

function passed(reports: readonly GuardReport[], transformedData?: object): DialectReply {
  const outcome = worstOutcome(reports);
  return { body: { verdict: true, data: { outcome }, ...(transformedData ? { transformedData } : {}) } };
}

function refused(outcome: Outcome, message: string): object {
  return { verdict: false, data: { outcome, message } };
}

/** Wraps a call, and collects its reports. */
function observeCall(call: GuardedCall, reports: GuardReport[]): GuardedCall {
  const collect = async <Checked extends { report: GuardReport }>(checking: Promise<Checked>): Promise<Checked> => {
    const checked = await checking;
    reports.push(checked.report);
    return checked;
  };
  return {
    request: (chat) => collect(call.request(chat)),
    texts: (texts, source) => collect(call.texts(texts, source)),
    answer: (answer) => collect(call.answer(answer)),
    answerStream: () => call.answerStream(),
  };
}
