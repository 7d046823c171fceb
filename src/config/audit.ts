import { z } from "zod";

/** The section `audit` of a configuration. */
export const audit = z
  .strictObject({
    to: z
      .enum(["file", "stdout", "otlp"])
      .describe("Where records go: a file, standard output, or a collector (OTLP)."),
    file: z.string().min(1).optional().describe("The file, with `to: file`. Its folder has to exist."),
    maxSize: z
      .number()
      .int()
      .min(4096)
      .default(104_857_600)
      .describe("Bytes after which a file is put aside as FILE.1, and a new one begins."),
    keep: z.number().int().min(1).max(1000).default(10).describe("How many files that were put aside are kept."),
    endpoint: z
      .url({ protocol: /^https?$/, error: "expected an address such as http://collector:4318/v1/logs" })
      .optional()
      .describe("Address of the collector, with `to: otlp`. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or this machine."),
    onFailure: z
      .enum(["block", "allow"])
      .default("block")
      .describe(
        "What happens when a decision cannot be recorded: the request gets status 503, or its answer all the same. Both are counted.",
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
