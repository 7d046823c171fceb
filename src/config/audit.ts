import { z } from "zod";

/** The section `audit` of a configuration. */
export const audit = z
  .strictObject({
    to: z
      .enum(["file", "stdout", "otlp"])
      .describe("The destination of records: a file, standard output, or a collector (OTLP)."),
    file: z.string().min(1).optional().describe("The file, with `to: file`. Its folder must exist."),
    maxSize: z
      .number()
      .int()
      .min(4096)
      .default(104_857_600)
      .describe("Bytes after which the file is rotated to FILE.1."),
    keep: z.number().int().min(1).max(1000).default(10).describe("Number of rotated files to keep."),
    endpoint: z
      .url({ protocol: /^https?$/, error: "expected an address such as http://collector:4318/v1/logs" })
      .optional()
      .describe("Address of the collector, with `to: otlp`. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or this machine."),
    onFailure: z
      .enum(["block", "allow"])
      .default("block")
      .describe(
        "If a decision cannot be recorded: block gives the request status 503, allow its normal response. Both are counted.",
      ),
  })
  .superRefine(({ to, file, endpoint }, context) => {
    if (to === "file" && file === undefined)
      context.addIssue({ code: "custom", path: ["file"], message: "is required" });
    if (to !== "file" && file !== undefined)
      context.addIssue({ code: "custom", path: ["file"], message: `has no effect with to: ${to}` });
    if (to !== "otlp" && endpoint !== undefined)
      context.addIssue({ code: "custom", path: ["endpoint"], message: `has no effect with to: ${to}` });
  });
export type AuditSettings = z.output<typeof audit>;
