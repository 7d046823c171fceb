import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { z } from "zod";
import type { AnsweredToolCall } from "../../messages/conversation.ts";
import { jsonReport } from "../../service/json-report.ts";
import type { ScanService } from "../../service/service.ts";
import { namesOf } from "../http/other-fields.ts";
import { chatOf } from "../schemas/conversation.ts";
import { outputExamples, outputRequest } from "../schemas/output.ts";
import { addScanRoutes, type ScanRoutesOptions, type ScanSubject } from "./scan-routes.ts";

type OutputRequest = z.output<typeof outputRequest>;

/** A placeholder of Anonymize: `[REDACTED_PERSON_1]`. */
const PLACEHOLDER = /\[REDACTED_[^\s[\]]{1,100}_\d{1,9}\]/;

/** The logs that have the warning about a missing vault. */
const warned = new WeakSet<FastifyBaseLogger>();

/** An output, alone or in a batch. */
export function outputSubject(log: FastifyBaseLogger): ScanSubject<OutputRequest> {
  /** The API of llm-guard has one vault for all callers, so its clients do not know that they must send a vault. */
  const warnOfMissingVault = ({ restores }: ScanService, { output, vault }: OutputRequest) => {
    if (warned.has(log) || !restores || typeof vault === "string" || !PLACEHOLDER.test(output)) return;
    warned.add(log);
    log.warn(
      "an output with placeholders has no vault, so they are not restored: send the vault from the response to its prompt (logged once)",
    );
  };
  return {
    name: "an output",
    source: "output",
    scan: (service, body, request) => {
      warnOfMissingVault(service, body);
      const { messages, tools, system, fields, tool_calls } = body;
      return service.output(
        body.prompt,
        body.output,
        request,
        messages ? chatOf({ messages, tools, system, fields }) : undefined,
        (tool_calls ?? undefined) as AnsweredToolCall[] | undefined,
      );
    },
    content: ({ prompt, output, tool_calls }) => ({ prompt, output, tool_calls }),
  };
}

/** `POST /analyze/output` and `POST /scan/output`. */
export async function outputRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<OutputRequest>(app, options, {
    ...outputSubject(app.log),
    paths: { analyze: ["/analyze/output"], scan: ["/scan/output"] },
    scans: "output",
    request: "OutputRequest",
    known: { names: namesOf(outputRequest), requestFields: "known" },
    results: { analyze: "OutputResult", scan: "ScanResult" },
    examples: outputExamples,
    answer: (report, details, rewrite) => jsonReport(report, details, rewrite ? "sanitized_output" : undefined),
  });
}
