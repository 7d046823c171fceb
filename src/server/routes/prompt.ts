import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { answerOf } from "../../answer.ts";
import { promptExamples, type promptRequest } from "../schemas/prompt.ts";
import { addScanRoutes, type ScanRoutesOptions } from "./scan-routes.ts";

/** `POST /analyze/prompt`, with llm-guard's other name for it, and `POST /scan/prompt`. */
export async function promptRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<z.output<typeof promptRequest>>(app, options, {
    paths: { analyze: ["/analyze/prompt", "/analyze/scan"], scan: ["/scan/prompt"] },
    name: "a prompt",
    source: "input",
    request: "PromptRequest",
    results: { analyze: "PromptResult", scan: "ScanResult" },
    examples: promptExamples,
    scan: (service, { prompt, source }, request) => service.prompt(prompt, request, source ?? "user"),
    answer: (report, details, rewrite) => answerOf(report, details, rewrite ? "sanitized_prompt" : undefined),
    content: ({ prompt }) => ({ prompt }),
  });
}
