import { type Dialect, endpoint } from "./dialect.ts";
import { analyze, analyzeRequest, personalDataScanners } from "./presidio/analyze.ts";
import { anonymize, anonymizeRequest, OPERATORS } from "./presidio/anonymize.ts";
import { entitiesOf } from "./presidio/entities.ts";

/**
 * The HTTP APIs of Presidio's analyzer and anonymizer (https://microsoft.github.io/presidio/api-docs/api-docs.html). The analyzer reports
 * what the scanners of personal data find, and the anonymizer replaces the results that it is given.
 */
export const presidio: Dialect = {
  summary: "Presidio",
  problem: ({ message, errors }) => {
    const [first] = errors ?? [];
    return { error: first ? `${message} ${first.pointer}: ${first.detail}` : message };
  },
  // LiteLLM sends texts as they are if each request gets an error.
  findFault: (scanners) =>
    personalDataScanners(scanners)
      ? undefined
      : "presidio needs a scanner that looks for personal data, such as Anonymize",
  health: { path: "/health", body: "Presidio Analyzer service is up" },
  lists: [
    {
      path: "/recognizers",
      summary: "List the scanners that look for personal data",
      example: ["names", "numbers"],
      list: (scanners) => personalDataScanners(scanners)?.names ?? [],
    },
    {
      path: "/supportedentities",
      summary: "List the entities that the scanners look for",
      example: ["EMAIL_ADDRESS", "PERSON"],
      list: (scanners) => entitiesOf(personalDataScanners(scanners)?.types.known ?? []),
    },
    {
      path: "/anonymizers",
      summary: "List the operators of the anonymizer",
      example: OPERATORS,
      list: () => OPERATORS,
    },
  ],
  endpoints: [
    endpoint({
      path: "/analyze",
      summary: "Find personal data, as Presidio's analyzer does",
      body: analyzeRequest,
      example: {
        request: { text: "Write to ann@example.org.", language: "en" },
        reply: [
          {
            entity_type: "EMAIL_ADDRESS",
            start: 9,
            end: 24,
            score: 0.95,
            analysis_explanation: null,
            recognition_metadata: { recognizer_name: "email", recognizer_identifier: "recognizer:email" },
          },
        ],
      },
      answer: async (request, call) => ({ body: await analyze(request, call) }),
    }),
    endpoint({
      path: "/anonymize",
      summary: "Replace personal data, as Presidio's anonymizer does",
      body: anonymizeRequest,
      example: {
        request: {
          text: "Write to ann@example.org.",
          analyzer_results: [{ entity_type: "EMAIL_ADDRESS", start: 9, end: 24, score: 0.95 }],
        },
        reply: {
          text: "Write to <EMAIL_ADDRESS>.",
          items: [{ start: 9, end: 24, entity_type: "EMAIL_ADDRESS", text: "<EMAIL_ADDRESS>", operator: "replace" }],
        },
      },
      answer: async (request) => ({ body: anonymize(request) }),
    }),
  ],
};
