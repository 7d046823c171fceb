import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { jsonReport } from "../../service/json-report.ts";
import { namesOf } from "../http/other-fields.ts";
import { promptExamples, promptRequest } from "../schemas/prompt.ts";
import type { ScanFields } from "../schemas/scan.ts";
import { addScanRoutes, type ScanRoutesOptions, type ScanSubject } from "./scan-routes.ts";

/** A prompt, alone or in a batch. */
export const PROMPT: ScanSubject<Pick<z.output<typeof promptRequest>, "prompt" | "source"> & ScanFields> = {
  name: "a prompt",
  source: "input",
  scan: (service, { prompt, source }, request) => service.prompt(prompt, request, source ?? "user"),
  textSource: ({ source }) => source ?? "user",
  content: ({ prompt }) => ({ prompt }),
};

/** `POST /analyze/prompt`, its alias in llm-guard, and `POST /scan/prompt`. */
export async function promptRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<z.output<typeof promptRequest>>(app, options, {
    ...PROMPT,
    paths: { analyze: ["/analyze/prompt", "/analyze/scan"], scan: ["/scan/prompt"] },
    scans: "prompt",
    request: "PromptRequest",
    known: { names: namesOf(promptRequest) },
    results: { analyze: "PromptResult", scan: "ScanResult" },
    examples: promptExamples,
    answer: (report, details, rewrite) => jsonReport(report, details, rewrite ? "sanitized_prompt" : undefined),
  });
}
