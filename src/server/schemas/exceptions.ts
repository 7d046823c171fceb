import { z } from "zod";
import { exceptionFields, exceptionScanners } from "../../scan/exceptions/exception.ts";

const { textHash, ...fields } = exceptionFields;

/** The body of `POST /admin/exceptions`. */
export const exceptionRequest = z
  .strictObject({
    scanners: exceptionScanners,
    text: z.string().min(1).optional().describe("An exact text. The server keeps its keyed hash only."),
    text_hash: textHash,
    ...fields,
  })
  .describe("An exception: what scanners must not fail, why, and until when.");

const listed = z
  .object({
    id: z.string(),
    scanners: z.array(z.string()).describe("Names or types of scanners."),
    side: z.enum(["input", "output"]).optional().describe("The only side on which it works."),
    text_hash: z.string().optional(),
    substring: z.string().optional(),
    pattern: z.string().optional(),
    sources: z.array(z.string()).optional(),
    credentials: z.array(z.string()).optional(),
    reason: z.string(),
    expires: z.string(),
    expired: z.boolean().describe("true: it has no effect any more."),
    origin: z.enum(["configuration", "run time"]),
    profiles: z.array(z.string()).optional().describe("The profiles whose configuration has it."),
    created: z.string().optional().describe("When it was added at run time."),
    created_by: z.string().nullable().optional().describe("The credential that added it."),
  })
  .describe("An exception of the server.");

export const exceptionReply = listed;

export const exceptionList = z
  .object({
    kept: z
      .enum(["memory", "file", "redis"])
      .describe("Where exceptions of the run time are kept. memory: they are lost when the server ends."),
    exceptions: z.array(listed),
  })
  .describe("All exceptions, also expired ones.");

/** An example for the API description. */
export const exceptionExample = {
  id: "ex-3f1c09a7be52",
  scanners: ["Toxicity"],
  text_hash: `hmac-sha256:${"5e".repeat(32)}`,
  reason: "operations jargon",
  expires: "2027-06-30",
  expired: false,
  origin: "run time",
  created: "2026-03-01T08:00:00.000Z",
  created_by: "chat",
};

export const exceptionRequestExample = {
  scanners: ["Toxicity"],
  text: "Kill the zombie process and all of its children.",
  reason: "operations jargon",
  expires: "2027-06-30",
};
