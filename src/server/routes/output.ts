import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { z } from "zod";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { answerOf } from "../../service/json-report.ts";
import type { ScanService } from "../../service/service.ts";
import { chatOf } from "../chat.ts";
import { outputExamples, type outputRequest } from "../schemas/output.ts";
import { addScanRoutes, type Item, type ScanRoutesOptions } from "./scan-routes.ts";

type OutputRequest = z.output<typeof outputRequest>;

/** What Anonymize puts into texts: `[REDACTED_PERSON_1]`. */
const PLACEHOLDER = /\[REDACTED_[^\s[\]]{1,100}_\d{1,9}\]/;

/** The logs in which it was said that an output came without its vault. */
const warned = new WeakSet<FastifyBaseLogger>();

/** What an output is, whether it comes alone or among others. */
export function outputItem(log: FastifyBaseLogger): Item<OutputRequest> {
  /** llm-guard's API has one vault for everybody, so that its clients do not know that they have to hand one in. */
  const warnOfPlaceholders = ({ restores }: ScanService, { output, vault }: OutputRequest) => {
    if (warned.has(log) || !restores || typeof vault === "string" || !PLACEHOLDER.test(output)) return;
    warned.add(log);
    log.warn(
      "an output has placeholders and came without a vault, so they stay: hand in the vault of the answer to its prompt (said once)",
    );
  };
  return {
    name: "an output",
    source: "output",
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
    content: ({ prompt, output, tool_calls }) => ({ prompt, output, tool_calls }),
  };
}

/** `POST /analyze/output` and `POST /scan/output`. */
export async function outputRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<OutputRequest>(app, options, {
    ...outputItem(app.log),
    paths: { analyze: ["/analyze/output"], scan: ["/scan/output"] },
    scans: "output",
    request: "OutputRequest",
    results: { analyze: "OutputResult", scan: "ScanResult" },
    examples: outputExamples,
    answer: (report, details, rewrite) => answerOf(report, details, rewrite ? "sanitized_output" : undefined),
  });
}
