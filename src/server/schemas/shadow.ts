import { z } from "zod";
import { SHADOW_RESULTS } from "../shadow/results.ts";

const count = z.int().min(0);

const agreement = z.object({
  both_pass: count.describe("Texts that pass in both."),
  both_fail: count.describe("Texts that fail in both."),
  newly_failing: count.describe("Texts that fail in the shadow only."),
  newly_passing: count.describe("Texts that fail in the main configuration only."),
  only_main: count.describe("Texts that pass, and that the shadow does not show to such a scanner."),
  only_shadow: count.describe("Texts that pass, and that only the shadow shows to such a scanner."),
  mean_score_difference: z
    .number()
    .nullable()
    .describe("Mean of the shadow's risk score less the main one; null where there are none to compare."),
});

const judgement = z.object({
  is_valid: z.boolean(),
  outcome: z.string(),
  scanners: z.record(z.string(), z.number()).describe("Risk scores of the scanners that differ."),
});

/** What the shadow has found so far. */
export const shadowSummary = z
  .object({
    state: z.enum(["loading", "running", "failed"]).describe("failed: its models could not be loaded."),
    since: z.iso.datetime().describe("When counting began."),
    share: z.number().describe("The share of the requests that is compared."),
    waiting: count.describe("Scans that the shadow has still to do."),
    scans: z
      .object(Object.fromEntries(SHADOW_RESULTS.map((result) => [result, count])))
      .describe("Scans that were chosen, by what became of them."),
    newly_failing: count.describe("Scans that fail in the shadow only."),
    newly_passing: count.describe("Scans that fail in the main configuration only."),
    scanners: z
      .object({ input: z.record(z.string(), agreement), output: z.record(z.string(), agreement) })
      .describe("Agreement by scanner, by name in results."),
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

/** An example for the API's description. */
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
