import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { answerOf } from "../../answer.ts";
import type { AnsweredToolCall } from "../../messages/text.ts";
import type { ScanService } from "../../service.ts";
import { chatOf } from "../chat.ts";
import { outputExamples, type outputRequest } from "../schemas/output.ts";
import { addScanRoutes, type ScanRoutesOptions } from "./scan-routes.ts";

type OutputRequest = z.output<typeof outputRequest>;

/** What Anonymize puts into texts: `[REDACTED_PERSON_1]`. */
const PLACEHOLDER = /\[REDACTED_[^\s[\]]{1,100}_\d{1,9}\]/;

/** `POST /analyze/output` and `POST /scan/output`. */
export async function outputRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  let isWarned = false;
  /** llm-guard's API has one vault for everybody, so that its clients do not know that they have to hand one in. */
  const warnOfPlaceholders = ({ restores }: ScanService, { output, vault }: OutputRequest) => {
    if (isWarned || !restores || typeof vault === "string" || !PLACEHOLDER.test(output)) return;
    isWarned = true;
    app.log.warn(
      "an output has placeholders and came without a vault, so they stay: hand in the vault of the answer to its prompt (said once)",
    );
  };

  addScanRoutes<OutputRequest>(app, options, {
    paths: { analyze: ["/analyze/output"], scan: ["/scan/output"] },
    scans: "output",
    name: "an output",
    source: "output",
    request: "OutputRequest",
    results: { analyze: "OutputResult", scan: "ScanResult" },
    examples: outputExamples,
    scan: (service, body, request) => {
      warnOfPlaceholders(service, body);
      const { messages, tools, system, tool_calls } = body;
      return service.output(
        body.prompt,
        body.output,
        request,
        messages ? chatOf({ messages, tools, system }) : undefined,
        (tool_calls ?? undefined) as AnsweredToolCall[] | undefined,
      );
    },
    answer: (report, details, rewrite) => answerOf(report, details, rewrite ? "sanitized_output" : undefined),
    content: ({ prompt, output, tool_calls }) => ({ prompt, output, tool_calls }),
  });
}
