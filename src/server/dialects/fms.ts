import { z } from "zod";
import { GuardValidationError } from "../../support/errors.ts";
import { chatOf, message } from "../schemas/conversation.ts";
import { type Dialect, endpoint } from "./dialect.ts";
import { detectionsIn, detectionsOf, reaching } from "./fms/detections.ts";
import { detectorOf } from "./fms/detector.ts";

const detectorParams = z
  .looseObject({ threshold: z.number().min(0).max(1).nullish().describe("The lowest score of detections to tell.") })
  .nullish();

/**
 * The kinds of context: the specification names `url`, `chunks` and `document`, and the orchestrator sends `url` and `docs` (ContextType
 * in its src/clients).
 */
const contextType = z.enum(["url", "docs", "document", "chunks"]);

/**
 * The detectors API of FMS Guardrails, by which its orchestrator, and TrustyAI with it, calls detectors. guard rewrites nothing here: it
 * says what it found, and where.
 *
 * Contract: docs/api/openapi_detector_api.yaml of https://github.com/foundation-model-stack/fms-guardrails-orchestrator, and what the
 * detector clients in its src/clients send.
 */
export const fms: Dialect = {
  summary: "FMS Guardrails detectors",
  // The orchestrator reads the code as a status of HTTP.
  problem: ({ status, message, errors = [] }) => ({
    code: status,
    message: [message, ...errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}.`)].join(" "),
  }),
  // Spelt as the orchestrator's HealthStatus.
  health: { path: "/health", body: { status: "HEALTHY" } },
  endpoints: [
    endpoint({
      path: "/api/v1/text/contents",
      summary: "Detect in texts, each by itself",
      body: z.looseObject({ contents: z.array(z.string()), detector_params: detectorParams }),
      example: {
        request: { contents: ["Write to ann@example.org."], detector_params: {} },
        reply: [
          [
            {
              start: 9,
              end: 24,
              text: "ann@example.org",
              detection_type: "personal_data",
              detection: "EMAIL_ADDRESS",
              score: 1,
              metadata: { scanner: "Mails" },
            },
          ],
        ],
      },
      async answer({ contents, detector_params: params }, { begin, scanners, headers }) {
        const threshold = thresholdOf(params);
        const detector = detectorOf(headers, scanners, { sides: ["input", "output"], knowsPrompt: false });
        const { side, suppress } = detector;
        const call = begin({ suppress, rewrite: false });
        const reports =
          side === "input"
            ? await call.textReports(contents)
            : (await call.answers(contents)).map(({ report }) => report);
        const body = reports.map((report, index) =>
          reaching(detectionsIn(contents[index] ?? "", report, detector), threshold),
        );
        return { body };
      },
    }),
    endpoint({
      path: "/api/v1/text/chat",
      summary: "Detect in the messages of a chat",
      body: z.looseObject({
        messages: z.array(message).min(1),
        tools: z.array(z.looseObject({})).nullish(),
        detector_params: detectorParams,
      }),
      example: {
        request: { messages: [{ role: "user", content: "Hello" }], tools: [], detector_params: {} },
        reply: [],
      },
      async answer({ messages, tools, detector_params: params }, { begin, scanners, headers }) {
        const threshold = thresholdOf(params);
        const detector = detectorOf(headers, scanners, { sides: ["input"], knowsPrompt: true });
        const { suppress } = detector;
        const { report } = await begin({ suppress, rewrite: false }).request(chatOf({ messages, tools }));
        return { body: reaching(detectionsOf(report, detector), threshold) };
      },
    }),
    endpoint({
      path: "/api/v1/text/context/doc",
      summary: "Detect in a text and the documents that it goes with",
      body: z.looseObject({
        content: z.string(),
        context_type: contextType,
        context: z.array(z.string()),
        detector_params: detectorParams,
      }),
      example: {
        request: { content: "What does it say?", context_type: "docs", context: ["It rains."], detector_params: {} },
        reply: [],
      },
      async answer({ content, context_type: type, context, detector_params: params }, { begin, scanners, headers }) {
        const threshold = thresholdOf(params);
        const detector = detectorOf(headers, scanners, { sides: ["input"], knowsPrompt: true });
        const { suppress } = detector;
        const documents = context.map((content) => ({
          role: "tool",
          // What stands at an address is not fetched. As a part of an unknown type it counts as not looked at, but for the address itself.
          content: type === "url" ? [{ type: "url", url: content }] : content,
        }));
        const chat = { messages: [...documents, { role: "user", content }] };
        const { report } = await begin({ suppress, rewrite: false }).request(chat);
        return { body: reaching(detectionsOf(report, detector), threshold) };
      },
    }),
    endpoint({
      path: "/api/v1/text/generation",
      summary: "Detect in a text that a model generated for a prompt",
      body: z.looseObject({ prompt: z.string(), generated_text: z.string(), detector_params: detectorParams }),
      example: {
        request: { prompt: "How is the weather?", generated_text: "It rains.", detector_params: {} },
        reply: [],
      },
      async answer({ prompt, generated_text: text, detector_params: params }, { begin, scanners, headers }) {
        const threshold = thresholdOf(params);
        const detector = detectorOf(headers, scanners, { sides: ["output"], knowsPrompt: true });
        const { suppress } = detector;
        const { report } = await begin({ suppress, rewrite: false, sent: prompt }).answer({ text });
        return { body: reaching(detectionsOf(report, detector), threshold) };
      },
    }),
  ],
};

/**
 * The threshold that a request asks for.
 *
 * @throws GuardValidationError for other parameters: they ask for checks that would not be made.
 */
function thresholdOf(params: z.output<typeof detectorParams>): number | null | undefined {
  const { threshold, ...others } = params ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const message = "is no parameter of guard's detectors, which take threshold only";
    throw new GuardValidationError([{ path: `detector_params.${unknown}`, message }]);
  }
  return threshold;
}
