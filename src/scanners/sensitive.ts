import { z } from "zod";
import type { Abortable } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { passed } from "../scan/scanner.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { defineScanner } from "./define-scanner.ts";
import {
  coverageOf,
  editsInSlices,
  findingsOf,
  PersonalDataDetector,
  type PiiScan,
  personalDataDifferences,
  personalDataOptions,
} from "./parts/personal-data.ts";
import { withEdits } from "./parts/redaction.ts";

export const Sensitive = defineScanner({
  type: "Sensitive",
  summary: "Fails answers with personal data, and can redact it.",
  description:
    "It finds the same as Anonymize (which describes `US_SSN_RE` and `CREDIT_CARD_RE` of llm-guard), except for placeholders and fakes in " +
    "the vault of the call.",
  sides: { output: {} },
  options: () => ({
    ...personalDataOptions,
    redact: z
      .boolean()
      .default(false)
      .describe("Replaces each finding by its type in angle brackets: <EMAIL_ADDRESS>."),
  }),
  differences: [...personalDataDifferences],
  findings: [{ type: "personal_data", label: "The kind of data, such as `EMAIL_ADDRESS`." }],
  examples: {
    options: { redact: true },
    passes: ["The meeting is about the new budget."],
    fails: [{ text: "Write to jane.doe@gmail.com.", sanitized: "Write to <EMAIL_ADDRESS>." }],
  },
  create({ options, engine }) {
    const detector = new PersonalDataDetector(options, engine);
    return {
      sanitizes: options.redact,
      streaming: { reads: "spans", span: 80, before: 512, byModel: options.recognizerConf.length > 0 },
      load: (signal) => detector.load(signal),
      close: () => detector.close(),
      async check(text, context) {
        const scan = await detector.find(text, context.vault, context);
        if (scan.findings.length === 0) return passed(text);
        return {
          isValid: false,
          score: detector.score(scan),
          ...withEdits(options.redact ? await typeEdits(text, scan, context) : []),
          findings: findingsOf(text, scan),
          coverage: coverageOf(text, scan),
        };
      },
    };
  },
});

/** Returns edits that replace each finding by its type. */
function typeEdits(text: string, { findings }: PiiScan, { signal }: Abortable): Promise<Edit[]> {
  return editsInSlices(text, findings, ({ entity }) => `<${entity}>`, new TimeSlice(signal));
}
