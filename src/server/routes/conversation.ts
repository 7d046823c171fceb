import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import type { Message } from "../../messages.ts";
import { conversationExamples, type conversationRequest } from "../schemas/conversation.ts";
import { addScanRoutes, type ScanRoutesOptions } from "./scan-routes.ts";

/** `POST /analyze/conversation` and `POST /scan/conversation`. */
export async function conversationRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<z.output<typeof conversationRequest>>(app, options, {
    paths: { analyze: ["/analyze/conversation"], scan: ["/scan/conversation"] },
    name: "a conversation",
    source: "input",
    request: "ConversationRequest",
    result: "PromptResult",
    sanitized: "sanitized_prompt",
    examples: conversationExamples,
    scan: ({ messages }, request) => options.service.conversation(messages as Message[], request),
    content: ({ messages }) => ({ messages }),
  });
}
