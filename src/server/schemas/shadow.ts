import { z } from "zod";
import { SHADOW_RESULTS } from "../shadow/results.ts";

const count = z.int().min(0);

const agreement = z.object({
  both_pass: count.describe("Texts that pass in both."),
  both_fail: count.describe("Texts that fail in both."),
  newly_failing: count.describe("Texts that fail in the shadow only."),
  newly_passing: count.describe("Texts that fail in the main configuration only."),
  only_main: count.describe("Texts that pass in the main configuration; the shadow does not run the scanner on them."),
  only_shadow: count.describe(
    "Texts that pass in the shadow; the main configuration does not run the scanner on them.",
  ),
  mean_score_difference: z
    .number()
    .nullable()
    .describe("Mean of the shadow's risk score minus the main one; null without texts to compare."),
});

const judgement = z.object({
  is_valid: z.boolean(),
  outcome: z.string(),
  scanners: z.record(z.string(), z.number()).describe("Risk scores of the scanners that differ."),
});

export const shadowSummary = z
  .object({
    state: z.enum(["loading", "running", "failed"]).describe("failed: its models could not be loaded."),
    since: z.iso.datetime().describe("When counting started."),
    share: z.number().describe("The fraction of the requests that is sampled."),
    waiting: count.describe("Scans that wait or run."),
    scans: z
      .object(Object.fromEntries(SHADOW_RESULTS.map((result) => [result, count])))
      .describe("Sampled scans by result."),
    newly_failing: count.describe("Scans that fail in the shadow only."),
    newly_passing: count.describe("Scans that fail in the main configuration only."),
    scanners: z
      .object({ input: z.record(z.string(), agreement), output: z.record(z.string(), agreement) })
      .describe("Agreement by the name of the scanner in results."),
    samples: z
      .array(
        z.object({
          request: z.string().describe("The id of the request."),
          profile: z.string(),
          side: z.enum(["input", "output"]),
          time: z.iso.datetime(),
          main: judgement,
          shadow: judgement,
          content: z.record(z.string(), z.unknown()).optional().describe("The texts, unless they are long."),
        }),
      )
      .optional()
      .describe("The last scans that differ, of requests with the same credential; only with app.log_content."),
  })
  .describe("What the shadow configuration would change.");

/** An example for the API description. */
export const shadowExample = {
  state: "running",
  since: "2026-03-01T08:00:00.000Z",
  share: 0.1,
  waiting: 0,
  scans: { same: 981, differs: 12, failed: 0, dropped: 7, not_compared: 0 },
  newly_failing: 9,
  newly_passing: 3,
  scanners: {
    input: {
      PromptInjection: {
        both_pass: 940,
        both_fail: 41,
        newly_failing: 9,
        newly_passing: 3,
        only_main: 0,
        only_shadow: 0,
        mean_score_difference: 0.02,
      },
    },
    output: {},
  },
};
