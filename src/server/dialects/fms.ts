import { z } from "zod";
import { GuardValidationError } from "../../support/errors.ts";
import { chatOf, message } from "../schemas/conversation.ts";
import { type Dialect, endpoint } from "./dialect.ts";
import { aboveThreshold, detectionsIn, detectionsOf } from "./fms/detections.ts";
import { detectorOf } from "./fms/detector.ts";

const detectorParams = z
  .looseObject({ threshold: z.number().min(0).max(1).nullish().describe("The minimum score of detections.") })
  .nullish();

/** The specification has `url`, `chunks` and `document`; the orchestrator sends `url` and `docs` (ContextType in its src/clients). */
const contextType = z.enum(["url", "docs", "document", "chunks"]);

/**
 * The detectors API of FMS Guardrails, which its orchestrator and TrustyAI call. guard returns findings with offsets, and rewrites nothing.
 *
 * Contract: docs/api/openapi_detector_api.yaml of https://github.com/foundation-model-stack/fms-guardrails-orchestrator, and its clients
 * in src/clients.
 */
export const fms: Dialect = {
  summary: "FMS Guardrails detectors",
  // The orchestrator uses the code as an HTTP status.
  problem: ({ status, message, errors = [] }) => ({
    code: status,
    message: [message, ...errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}.`)].join(" "),
  }),
  // The spelling of HealthStatus in the orchestrator.
  health: { path: "/health", body: { status: "HEALTHY" } },
  endpoints: [
    endpoint({
      path: "/api/v1/text/contents",
      summary: "Detect in several texts, each by itself",
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
          aboveThreshold(detectionsIn(contents[index] ?? "", report, detector), threshold),
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
        return { body: aboveThreshold(detectionsOf(report, detector), threshold) };
      },
    }),
    endpoint({
      path: "/api/v1/text/context/doc",
      summary: "Detect in a text and its context documents",
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
          // URLs are not fetched. A part of unknown type counts as not scanned, except for the URL itself.
          content: type === "url" ? [{ type: "url", url: content }] : content,
        }));
        const chat = { messages: [...documents, { role: "user", content }] };
        const { report } = await begin({ suppress, rewrite: false }).request(chat);
        return { body: aboveThreshold(detectionsOf(report, detector), threshold) };
      },
    }),
    endpoint({
      path: "/api/v1/text/generation",
      summary: "Detect in a text that a model has generated",
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
        return { body: aboveThreshold(detectionsOf(report, detector), threshold) };
      },
    }),
  ],
};

/**
 * Returns the threshold of a request.
 *
 * @throws GuardValidationError for other parameters, because their checks would not run.
 */
function thresholdOf(params: z.output<typeof detectorParams>): number | null | undefined {
  const { threshold, ...others } = params ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const message = "is not a parameter of guard's detectors: the only one is threshold";
    throw new GuardValidationError([{ path: `detector_params.${unknown}`, message }]);
  }
  return threshold;
}
