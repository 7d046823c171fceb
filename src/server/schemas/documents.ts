import { z } from "zod";
import { SOURCES } from "../../scan/source.ts";
import { coverage, finding, resultFields, scanFields, vaultField } from "./scan.ts";

// Types with descriptions of their own: a list of types in one place is none that the validator's strict mode takes.
const id = z.union([z.string().describe("A name."), z.number().describe("A number.")]);

/** A document with what the client calls it. */
export const document = z
  .object({
    id: id.nullish().describe("Stands beside the document's results."),
    text: z.string().describe("The text of the document."),
  })
  .describe("A document, such as a passage that a retriever found.");

/** Documents to check. */
export const documentsRequest = z
  .object({
    documents: z.array(z.union([z.string(), document])).describe("The documents, each a text or an object with one."),
    mask_injections: z
      .boolean()
      .nullish()
      .describe("Cuts the sentences out of a document by which it fails as an injection, and keeps the rest."),
    source: z
      .enum(SOURCES)
      .nullish()
      .describe(
        "Where the documents come from: tool (default), user, assistant, tool_call, tool_definition or system.",
      ),
    ...scanFields,
  })
  .describe("Documents to check.");

const { engine_timing, cache, outcome, ...ofDocument } = resultFields;

/** What is said of one document. */
export const documentResult = z
  .object({
    id: id.optional().describe("The id of the document, if it has one."),
    sanitized_text: z
      .string()
      .optional()
      .describe(
        "The document as it may be used: without what was cut out of it, and from /analyze/documents as the scanners rewrote it.",
      ),
    ...ofDocument,
    masked: z
      .object({
        is_valid: z.boolean().describe("Whether what is left passed every check."),
        scanners: ofDocument.scanners,
        statements: z
          .int()
          .describe("How many statements were cut out: sentences, or lines of tables, lists and logs."),
        cuts: z
          .array(finding)
          .describe("What was cut out, in code points of the document as it was given, in ascending order."),
        coverage: coverage.optional().describe("With details: how much was looked at of what is left."),
      })
      .optional()
      .describe("What was cut out, and what the scanners say of what is left. Absent when nothing was."),
  })
  .describe("What the scanners say of a document as it was given.");

/** The answer of `POST /analyze/documents` and `POST /scan/documents`. */
export const documentsResult = z
  .object({
    is_valid: z.boolean().describe("Whether all documents passed every check, as they were given."),
    documents: z.array(documentResult).describe("The results of each document, in the order of the documents."),
    outcome,
    engine_timing,
    coverage: coverage.optional().describe("With details: how much was looked at of all documents together."),
    cache,
    ...vaultField,
  })
  .describe("What the scanners say of documents.");

const documents = [{ id: "visit.md", text: "Write to ann@example.org." }, "The zebra has stripes."];
const judged = [
  { id: "visit.md", is_valid: false, scanners: { Anonymize: 0.9, BanSubstrings: -1 } },
  { is_valid: false, scanners: { Anonymize: -1, BanSubstrings: 1 } },
];
const texts = ["Write to [REDACTED_EMAIL_ADDRESS_1].", "The zebra has stripes."];

/**
 * The examples of the API's description, of scanners Anonymize and BanSubstrings, the latter with the word zebra. Both look at tool
 * results by `conversation.scan`.
 */
export const documentsExamples = {
  request: { documents },
  analyzed: {
    is_valid: false,
    documents: judged.map((result, index) => ({ ...result, sanitized_text: texts[index] })),
    vault: "AT6rCk1Yw0dQ0Vd9mE2x",
  },
  scanned: { is_valid: false, documents: judged },
};
