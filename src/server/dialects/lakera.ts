import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { LocalCall, LocalGuardReport } from "../../guard/local-guard.ts";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { Message } from "../../scan/chat-request.ts";
import { withholdingChecks } from "../../scan/outcome.ts";
import { failingChecks } from "../../scan/report.ts";
import type { Finding } from "../../scan/scanner.ts";
import { HARM_FINDING, HARM_SCORE_FINDING, HARMFUL } from "../../scanners/harmful-content/categories.ts";
import { isRecord } from "../../support/is-record.ts";
import { version } from "../../support/version.ts";
import { chatOf, message } from "../schemas/conversation.ts";
import { type Dialect, endpoint } from "./dialect.ts";
import { findingTypeOf, isPlaced, type PlacedFinding } from "./findings.ts";

const body = z.looseObject({
  messages: z.array(message).min(1),
  project_id: z
    .string()
    .nullish()
    .describe("Repeated in the breakdown. The server has one configuration for all projects."),
  payload: z.boolean().nullish().describe("Whether the response has the positions of personal data and other matches."),
  breakdown: z.boolean().nullish().describe("Whether the response lists the checks."),
  dev_info: z.boolean().nullish().describe("Whether the response has the version of this server."),
});
type Body = z.output<typeof body>;

/**
 * The second version of Lakera's API (docs.lakera.ai, "Guard API Endpoint" and "Guard Results API Endpoint"): `POST /v2/guard` returns
 * whether messages are flagged, and `POST /v2/guard/results` the confidence of the checks.
 */
export const lakera: Dialect = {
  summary: "Lakera Guard",
  endpoints: [
    endpoint({
      path: "/v2/guard",
      summary: "Check messages, as Lakera Guard does",
      body,
      example: {
        request: { messages: [{ role: "user", content: "Hello" }], breakdown: true },
        reply: {
          flagged: false,
          metadata: { request_uuid: "7d1c3f7e-5d1b-4a43-8f3c-0c3b2f6a1d55" },
          breakdown: [
            {
              project_id: "project-default",
              policy_id: "policy-guard",
              detector_id: "detector-PromptInjection",
              detector_type: "prompt_attack",
              detected: false,
              result: "l5_unlikely",
              message_id: 0,
            },
          ],
        },
      },
      async answer(request, { begin }) {
        const reports = await checkMessages(request.messages as Message[], begin({ rewrite: false }));
        return {
          body: {
            flagged: reports.some(({ isValid }) => !isValid),
            metadata: { request_uuid: randomUUID() },
            ...(request.payload ? { payload: payloadOf(reports, request) } : {}),
            ...(request.breakdown ? { breakdown: breakdownOf(reports, request) } : {}),
            ...(request.dev_info ? { dev_info: DEV_INFO } : {}),
          },
        };
      },
    }),
    endpoint({
      path: "/v2/guard/results",
      summary: "Return the confidence of checks of messages, as Lakera Guard does",
      body,
      example: {
        request: { messages: [{ role: "user", content: "Hello" }] },
        reply: {
          results: [
            {
              project_id: "project-default",
              policy_id: "policy-guard",
              detector_id: "detector-PromptInjection",
              detector_type: "prompt_attack",
              result: "l5_unlikely",
              message_id: 0,
            },
          ],
          metadata: { request_uuid: "7d1c3f7e-5d1b-4a43-8f3c-0c3b2f6a1d55" },
        },
      },
      async answer(request, { begin }) {
        const reports = await checkMessages(request.messages as Message[], begin({ rewrite: false }));
        const results = breakdownOf(reports, request).map(({ detected: _, ...result }) => result);
        return { body: { results, metadata: { request_uuid: randomUUID() } } };
      },
    }),
  ],
};

/** Build information in the format of Lakera. A package has no revision of a repository. */
const DEV_INFO = { git_revision: "unknown", git_timestamp: "unknown", model_version: `guard-${version}`, version };

/** A report, with the default message index of its findings. */
type MessageReport = LocalGuardReport & { message: number };

/**
 * Checks the conversation as a request, and its last message as an answer if it is from the assistant: Lakera's clients call the same
 * endpoint before and after the model.
 */
async function checkMessages(messages: readonly Message[], call: LocalCall): Promise<MessageReport[]> {
  const last = messages.length - 1;
  const { role, content, tool_calls: toolCalls } = messages[last] as Message;
  if (role !== "assistant") return [{ ...(await call.request(chatOf({ messages }))).report, message: last }];
  const parts = Array.isArray(content) ? content : [content ?? ""];
  const texts = parts.map((part: unknown) => (isRecord(part) ? part.text : part));
  const isText = texts.every((text) => typeof text === "string");
  // Parts without text count in the conversation only.
  const sent = isText ? messages.slice(0, -1) : messages;
  const reports: MessageReport[] = [];
  if (sent.length > 0) reports.push({ ...(await call.request(chatOf({ messages: sent }))).report, message: last });
  const { report } = await call.answer({
    text: texts.filter((text) => typeof text === "string").join("\n"),
    toolCalls: (toolCalls ?? []) as AnsweredToolCall[],
  });
  return [...reports, { ...report, message: last }];
}

/** Lakera's names of personal data, by guard's. Other names do not differ. */
const PERSONAL_DATA: Record<string, string> = {
  PERSON: "name",
  PHONE_NUMBER: "phone_number",
  EMAIL_ADDRESS: "email",
  IP_ADDRESS: "ip_address",
  STREET_ADDRESS: "address",
  LOCATION: "address",
  CREDIT_CARD: "credit_card",
  IBAN_CODE: "iban_code",
  US_SSN: "us_social_security_number",
};

/**
 * Lakera's names of content, by the labels of Jigsaw's "Unintended Bias in Toxicity Classification" and by guard's categories of harm. Other
 * names do not differ.
 */
const CONTENT: Record<string, string> = {
  identity_attack: "hate",
  obscene: "profanity",
  sexual_explicit: "sexual",
  threat: "violence",
  graphic_violence: "violence",
  sexual_content: "sexual",
  violent_crimes: "violence",
};

/** Returns Lakera's type of a check or a finding. Lakera has no type for most checks, which get their own names. */
function detectorType(check: string, type: string | undefined, label?: string): string {
  switch (type) {
    case "injection":
      return "prompt_attack";
    case "url":
      return "unknown_links";
    case "personal_data":
      return label === undefined ? "pii" : `pii/${PERSONAL_DATA[label] ?? label.toLowerCase()}`;
    case "toxicity":
    case HARM_FINDING:
      return label === undefined || label === HARMFUL
        ? "moderated_content"
        : `moderated_content/${CONTENT[label] ?? label}`;
    default:
      return `guard/${check}`;
  }
}

interface Detector {
  project_id: string;
  policy_id: string;
  detector_id: string;
  detector_type: string;
  detected: boolean;
  result: string;
  message_id: number;
}

function breakdownOf(reports: readonly MessageReport[], { project_id, messages }: Body): Detector[] {
  const entry = (check: string, detector_type: string, detected: boolean, result: string, message_id: number) => ({
    project_id: project_id ?? "project-default",
    policy_id: "policy-guard",
    detector_id: `detector-${check}`,
    detector_type,
    detected,
    result,
    message_id,
  });
  const entries = reports.flatMap((report) => {
    const { resultsScore, probabilities, findings, message } = report;
    const failing = new Set(withholdingChecks(report));
    const ofChecks = Object.keys(resultsScore).flatMap((check) => {
      const isFailed = failing.has(check);
      const level = levelOf(probabilities[check], isFailed);
      // Scores of categories are no reasons why a check fails.
      const reasons = (findings[check] ?? []).filter(({ type }) => type !== HARM_SCORE_FINDING);
      const found = isFailed ? reasons : [];
      if (found.length === 0) {
        return [entry(check, detectorType(check, findingTypeOf(check)), isFailed, level, message)];
      }
      return found.map((finding) => {
        const { type, label } = finding;
        // Clients mask personal data by the payload and pass on the rest, so data that is not in the payload needs another type.
        const isHidden = type === "personal_data" && !isPlaced(finding, message, messages as Message[]);
        const name = isHidden ? `guard/${check}` : detectorType(check, type, label ?? "");
        return entry(check, name, true, level, finding.message ?? message);
      });
    });
    const isOther = !report.isValid && ofChecks.every(({ detected }) => !detected);
    return isOther ? [...ofChecks, entry("coverage", "guard/coverage", true, "l1_confident", message)] : ofChecks;
  });
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}

/**
 * Returns Lakera's confidence level ("Confident", "Very likely", "Likely", "Less likely", "Unlikely"), which has no documented number. Each
 * level is a fifth of the probability; checks without one get the highest or lowest level.
 */
function levelOf(probability: number | undefined, isFailed: boolean): string {
  const confidence = probability ?? (isFailed ? 1 : 0);
  if (confidence >= 0.8) return "l1_confident";
  if (confidence >= 0.6) return "l2_very_likely";
  if (confidence >= 0.4) return "l3_likely";
  return confidence >= 0.2 ? "l4_less_likely" : "l5_unlikely";
}

/** The types of findings that are matches in a text, not classifications of it. */
const MATCHES = new Set(["personal_data", "secret", "substring", "pattern", "competitor"]);

/** Returns matches in code points of their messages. Overlapping ones are merged, because clients replace them one after the other. */
function payloadOf(reports: readonly MessageReport[], { messages }: Body): Record<string, unknown>[] {
  const matches = reports
    .flatMap(({ message, ...report }) =>
      failingChecks(report).flatMap((check) => {
        const found = report.findings[check] ?? [];
        const isMatch = (finding: Finding): finding is PlacedFinding =>
          MATCHES.has(finding.type) && isPlaced(finding, message, messages as Message[]);
        return found.filter(isMatch).map((finding) => ({ ...finding, check, message: finding.message ?? message }));
      }),
    )
    .sort((a, b) => a.message - b.message || a.start - b.start || b.end - a.end);
  const merged: typeof matches = [];
  for (const match of matches) {
    const previous = merged.at(-1);
    if (!previous || previous.message !== match.message || match.start >= previous.end) merged.push({ ...match });
    else previous.end = Math.max(previous.end, match.end);
  }
  return merged.map(({ start, end, message, type, label, check }) => ({
    start,
    end,
    text: [...((messages[message] as Message).content as string)].slice(start, end).join(""),
    detector_type: detectorType(check, type, label ?? ""),
    labels: label === undefined ? [] : [label],
    message_id: message,
  }));
}
