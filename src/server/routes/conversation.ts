import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { jsonReport } from "../../service/json-report.ts";
import { namesOf } from "../http/other-fields.ts";
import { chatOf, conversationExamples, conversationRequest } from "../schemas/conversation.ts";
import { addScanRoutes, type ScanRoutesOptions } from "./scan-routes.ts";

/** `POST /analyze/conversation` and `POST /scan/conversation`. */
export async function conversationRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<z.output<typeof conversationRequest>>(app, options, {
    paths: { analyze: ["/analyze/conversation"], scan: ["/scan/conversation"] },
    scans: "conversation",
    name: "a conversation",
    source: "input",
    request: "ConversationRequest",
    known: { names: namesOf(conversationRequest), requestFields: "read" },
    results: { analyze: "ConversationResult", scan: "ScanResult" },
    examples: conversationExamples,
    scan: (service, body, request) => service.conversation(chatOf(body), request),
    answer: (report, details, rewrite) => jsonReport(report, details, rewrite ? "sanitized_prompt" : undefined),
    content: ({ messages, tools, system, fields }) => ({ messages, tools, system, fields }),
  });
}
