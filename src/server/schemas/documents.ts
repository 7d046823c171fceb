import { z } from "zod";
import { SOURCES } from "../../scan/source.ts";
import { coverage, finding, resultFields, sanitizedFields, scanFields, vaultField } from "./scan.ts";

// Each type has a description, because the strict mode of the validator allows no list of types.
const id = z.union([z.string().describe("A name."), z.number().describe("A number.")]);

export const document = z
  .object({
    id: id.nullish().describe("Repeated in the document's result."),
    text: z.string().describe("The text of the document."),
  })
  .describe("A document, such as a passage of a retriever.");

export const documentsRequest = z
  .object({
    documents: z.array(z.union([z.string(), document])).describe("The documents, as texts or objects."),
    mask_injections: z
      .boolean()
      .nullish()
      .describe("Cut injections out of a document, by sentences, and keep the rest."),
    source: z
      .enum(SOURCES)
      .nullish()
      .describe("The source of the documents: tool (default), user, assistant, tool_call, tool_definition or system."),
    ...scanFields,
  })
  .describe("Documents to check.");

const { engine_timing, cache, outcome, would_block, would_mask, in_review, reviews, ...documentFields } = resultFields;

export const documentResult = z
  .object({
    id: id.optional().describe("The id of the document, if it has one."),
    sanitized_text: z
      .string()
      .optional()
      .describe("The document without cut injections and, from /analyze/documents, with the edits of all scanners."),
    ...documentFields,
    masked: z
      .object({
        is_valid: z.boolean().describe("Whether the rest passed every check."),
        scanners: documentFields.scanners,
        statements: z.int().describe("Number of cut statements: sentences, or lines of tables, lists and logs."),
        cuts: z.array(finding).describe("The cut parts, in code points of the given document, in ascending order."),
        coverage: coverage.optional().describe("With details: how much of the rest was scanned."),
      })
      .optional()
      .describe("The cut parts, and the result of the rest. Absent if nothing was cut."),
  })
  .describe("The result of a document.");

/** The response of `POST /analyze/documents` and `POST /scan/documents`. */
export const documentsResult = z
  .object({
    is_valid: z.boolean().describe("Whether all given documents passed every check."),
    would_block,
    would_mask,
    in_review,
    reviews,
    documents: z.array(documentResult).describe("The results of the documents, in order."),
    ...sanitizedFields,
    outcome,
    engine_timing,
    coverage: coverage.optional().describe("With details: how much of all documents was scanned."),
    cache,
    ...vaultField,
  })
  .describe("The results of documents.");

const documents = [{ id: "visit.md", text: "Write to ann@example.org." }, "The zebra has stripes."];
const results = [
  { id: "visit.md", is_valid: false, scanners: { Anonymize: 0.9, BanSubstrings: -1 } },
  { is_valid: false, scanners: { Anonymize: -1, BanSubstrings: 1 } },
];
const texts = ["Write to [REDACTED_EMAIL_ADDRESS_1].", "The zebra has stripes."];

/** Examples with the scanners Anonymize, and BanSubstrings for the word zebra, which `conversation.scan` names for tool results. */
export const documentsExamples = {
  request: { documents },
  analyzed: {
    is_valid: false,
    documents: results.map((result, index) => ({ ...result, sanitized_text: texts[index] })),
    vault: "AT6rCk1Yw0dQ0Vd9mE2x",
  },
  scanned: { is_valid: false, documents: results },
};
