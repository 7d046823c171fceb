import { z } from "zod";
import { blockedMessage, GuardBlockedError } from "../../guard/blocked.ts";
import type { GuardedCall, GuardReport } from "../../guard/guard.ts";
import type { Format, Json } from "../../http-formats/format.ts";
import { formatOf } from "../../http-formats/formats.ts";
import { judgeAnswer, judgeRequest } from "../../http-formats/judge.ts";
import { Problem } from "../../http-server/problem.ts";
import type { Outcome } from "../../scan/outcome.ts";
import { type Dialect, type DialectCall, type DialectReply, endpoint } from "./dialect.ts";

const json = z.record(z.string(), z.unknown());

const body = z.looseObject({
  eventType: z.enum(["beforeRequestHook", "afterRequestHook"]),
  requestType: z.string().describe("chatComplete, complete, embed or messages"),
  request: z.looseObject({ json, isStreamingRequest: z.boolean().nullish() }),
  response: z
    .looseObject({ json: json.nullish(), statusCode: z.number().nullish() })
    .nullish()
    .describe("What the model answered, after the call."),
});
type Body = z.output<typeof body>;

/** The path of OpenAI or Anthropic whose format the bodies of a type of request have. */
const PATHS: Record<string, string> = {
  chatComplete: "/v1/chat/completions",
  complete: "/v1/completions",
  embed: "/v1/embeddings",
  messages: "/v1/messages",
};

/**
 * The field of a request in which the vault stays, sealed, while the model answers. The gateway hands the request as it was rewritten to
 * the webhook after the call; to the provider it sends only the fields that it knows.
 */
const VAULT = "guard_vault";

/** The webhook of Portkey's gateway (`default.webhook`), as version 1.15.2 of its package calls it. */
export const portkey: Dialect = {
  summary: "Portkey",
  endpoints: [
    endpoint({
      path: "/portkey",
      summary: "Check a request or an answer, as a webhook of Portkey's gateway",
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
      answer: (asked, call) =>
        asked.eventType === "beforeRequestHook" ? beforeCall(asked, call) : afterCall(asked, call),
    }),
  ],
};

function formatFor({ requestType }: Body): Format {
  const format = Object.hasOwn(PATHS, requestType) ? formatOf(PATHS[requestType] as string) : undefined;
  if (format) return format;
  const detail = `must be one of ${Object.keys(PATHS).join(", ")}`;
  throw new Problem(422, "The body has the wrong shape.", { errors: [{ pointer: "/requestType", detail }] });
}

async function beforeCall(asked: Body, { call, vaults, restores }: DialectCall): Promise<DialectReply> {
  const format = formatFor(asked);
  // What a client calls a vault is none of the gateway's.
  const { [VAULT]: given, ...request } = asked.request.json;
  const before = JSON.stringify(request);
  const parts = format.request?.(request, { unguarded: "refuse" }) ?? {};
  return judged(call, async (watched) => {
    await judgeRequest(watched, parts);
    if (restores && format.answer && call.vault.size > 0) request[VAULT] = vaults.seal(call.vault);
    return given === undefined && JSON.stringify(request) === before ? undefined : { request: { json: request } };
  });
}

async function afterCall(asked: Body, { begin, vaults }: DialectCall): Promise<DialectReply> {
  const format = formatFor(asked);
  const { json: answer, statusCode } = asked.response ?? {};
  // An error of the provider is nothing that a model has said.
  if (typeof statusCode === "number" && statusCode >= 400) return passed([]);
  if (!format.answer) return passed([]);
  if (!answer || asked.request.isStreamingRequest) {
    return { body: refused("The answer was blocked by guard: the gateway does not hand out streams.") };
  }
  const { [VAULT]: token, ...request } = asked.request.json;
  const { texts = [], chat } = format.request?.(request, { unguarded: "pass" }) ?? {};
  const prompt = texts.flatMap(({ slots }) => slots.map(({ text }) => text)).at(-1) ?? "";
  const vault = typeof token === "string" ? { vault: vaults.open(token) } : {};
  const call = begin({ sent: chat?.request ?? { messages: [{ role: "user", content: prompt }] }, ...vault });
  const before = JSON.stringify(answer);
  const parts = format.answer(answer as Json);
  return judged(call, async (watched) => {
    await judgeAnswer(watched, parts);
    return JSON.stringify(answer) === before ? undefined : { response: { json: answer } };
  });
}

/** Judges, and says what the gateway has to do. The answer goes on to the client of the gateway, and quotes nothing. */
async function judged(
  call: GuardedCall,
  judge: (watched: GuardedCall) => Promise<object | undefined>,
): Promise<DialectReply> {
  const reports: GuardReport[] = [];
  try {
    const transformedData = await judge(watchedCall(call, reports));
    return passed(reports, transformedData);
  } catch (error) {
    if (!(error instanceof GuardBlockedError)) throw error;
    return { body: refused(blockedMessage(error.what, error.report)) };
  }
}

function passed(reports: readonly GuardReport[], transformedData?: object): DialectReply {
  const outcome: Outcome = reports.some(({ outcome }) => outcome === "masked") ? "masked" : "passed";
  return { body: { verdict: true, data: { outcome }, ...(transformedData ? { transformedData } : {}) } };
}

function refused(message: string): object {
  return { verdict: false, data: { outcome: "blocked" satisfies Outcome, message } };
}

/** A call that keeps its reports. */
function watchedCall(call: GuardedCall, reports: GuardReport[]): GuardedCall {
  const keep = async <Checked extends { report: GuardReport }>(checking: Promise<Checked>): Promise<Checked> => {
    const checked = await checking;
    reports.push(checked.report);
    return checked;
  };
  return {
    request: (chat) => keep(call.request(chat)),
    texts: (texts, source) => keep(call.texts(texts, source)),
    answer: (answer) => keep(call.answer(answer)),
    answerStream: () => call.answerStream(),
  };
}
