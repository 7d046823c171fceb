import { type Dialect, endpoint } from "./dialect.ts";
import { analyze, analyzeRequest, personalDataScanners, recognizersOf } from "./presidio/analyze.ts";
import { anonymize, anonymizeRequest, OPERATORS } from "./presidio/anonymize.ts";
import { DEANONYMIZERS, deanonymize, deanonymizeRequest } from "./presidio/deanonymize.ts";
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
      summary: "List the recognizers, models and patterns that look for personal data",
      example: ["email", "embedded:ner"],
      list: (scanners, { language }) => recognizersOf(scanners, language).map(({ id }) => id),
    },
    {
      path: "/supportedentities",
      summary: "List the entities that the scanners look for",
      example: ["EMAIL_ADDRESS", "PERSON"],
      list: (scanners, { language }) =>
        entitiesOf(recognizersOf(scanners, language).flatMap(({ types }) => [...types])),
    },
    {
      path: "/anonymizers",
      summary: "List the operators of the anonymizer",
      example: OPERATORS,
      list: () => OPERATORS,
    },
    {
      path: "/deanonymizers",
      summary: "List the operators that restore values",
      example: DEANONYMIZERS,
      list: () => DEANONYMIZERS,
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
    endpoint({
      path: "/deanonymize",
      summary: "Restore encrypted values, as Presidio's anonymizer does",
      body: deanonymizeRequest,
      example: {
        request: {
          text: "I am iD-KtHguOYhQCcLdLKU6KJccdjt4GRPAeP4BltPrHw4=.",
          anonymizer_results: [{ entity_type: "PERSON", start: 5, end: 49 }],
          deanonymizers: { PERSON: { type: "decrypt", key: "1111111111111111" } },
        },
        reply: {
          text: "I am Ann.",
          items: [{ start: 5, end: 8, entity_type: "PERSON", text: "Ann", operator: "decrypt" }],
        },
      },
      answer: async (request) => ({ body: deanonymize(request) }),
    }),
  ],
};
