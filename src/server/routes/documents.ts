import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { jsonDocumentsReport } from "../../service/json-report.ts";
import { namesOf } from "../http/other-fields.ts";
import { document, documentsExamples, documentsRequest } from "../schemas/documents.ts";
import { addScanRoutes, type ScanRoutesOptions } from "./scan-routes.ts";

/** `POST /analyze/documents` and `POST /scan/documents`. */
export async function documentsRoutes(app: FastifyInstance, options: ScanRoutesOptions): Promise<void> {
  addScanRoutes<z.output<typeof documentsRequest>>(app, options, {
    paths: { analyze: ["/analyze/documents"], scan: ["/scan/documents"] },
    scans: "documents",
    name: "documents",
    source: "input",
    request: "DocumentsRequest",
    known: { names: namesOf(documentsRequest), items: { documents: namesOf(document) } },
    results: { analyze: "DocumentsResult", scan: "DocumentsResult" },
    examples: documentsExamples,
    scan: (service, { documents, mask_injections, source }, request) => {
      const texts = documents.map((document) => (typeof document === "string" ? document : document.text));
      const maskInjections = mask_injections ?? false;
      return service.documents(texts, request, { maskInjections, source: source ?? "tool" });
    },
    answer: (report, details, _rewrite, { documents }) => {
      const ids = documents.map((document) => (typeof document === "string" ? undefined : (document.id ?? undefined)));
      return jsonDocumentsReport(report, ids, details);
    },
    textSource: ({ source }) => source ?? "tool",
    content: ({ documents }) => ({ documents }),
  });
}
