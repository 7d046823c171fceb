import { z } from "zod";
import { CHECK_OUTCOMES } from "../../scan/check-result.ts";
import { OUTCOMES } from "../../scan/outcome.ts";
import { type AdHocRecognizer, adHocRecognizers } from "../../scanners/parts/ad-hoc-recognizers.ts";
import type { OffsetUnit } from "../../text/offsets.ts";
import { CACHE_USES } from "../cache/result-cache.ts";
import { reviewFields } from "./reviews.ts";

/** Body fields of every scan. Unknown fields are ignored, as in llm-guard. */
export const scanFields = {
  scanners_suppress: z
    .array(z.string())
    .nullish()
    .describe("Names or types of scanners to suppress; X also suppresses X[window], X[tool] and so on."),
  profile: z
    .string()
    .nullish()
    .describe("The profile to use, for callers who may choose one. The header X-Guard-Profile has the same effect."),
  thresholds: z
    .record(z.string(), z.number())
    .nullish()
    .describe(
      "Thresholds by the names of scanners, which replace those of the configuration, if the profile allows it.",
    ),
  ad_hoc_recognizers: adHocRecognizers
    .nullish()
    .describe(
      "Recognizers of personal data for this request, as in Presidio. Scanners such as Anonymize and Sensitive look for their types too.",
    ),
  details: z.boolean().nullish().describe("Adds checks, findings, edits, timing and coverage to the response."),
  offsets: z
    .enum(["code_point", "utf16"])
    .nullish()
    .describe("The unit of offsets and lengths in the response: code_point (Unicode, default) or utf16 (code units)."),
  vault: z
    .string()
    .nullish()
    .describe(
      "The vault of the latest response in the same conversation: Deanonymize restores values from it, and a value that was " +
        "replaced before gets the same placeholder.",
    ),
};

/** The parsed body fields of every scan. */
export interface ScanFields {
  scanners_suppress?: string[] | null | undefined;
  profile?: string | null | undefined;
  thresholds?: Record<string, number> | null | undefined;
  ad_hoc_recognizers?: AdHocRecognizer[] | null | undefined;
  details?: boolean | null | undefined;
  offsets?: "code_point" | "utf16" | null | undefined;
  vault?: string | null | undefined;
}

/** Returns the unit of offsets that a body requests. */
export function offsetUnitOf({ offsets }: Pick<ScanFields, "offsets">): OffsetUnit {
  return offsets === "utf16" ? "utf16" : "codePoint";
}

/** A replacement of a part of a text. */
export const edit = z.object({
  start: z.int().describe("Start in the given text, in code points or the unit of offsets."),
  end: z.int().describe("Exclusive end in the given text, in the same unit."),
  replacement: z.string().describe("The text that replaces it."),
});

export const finding = z
  .object({
    start: z.int().describe("Start in the given text, in code points or the unit of offsets."),
    end: z.int().describe("Exclusive end in the given text, in the same unit."),
    type: z.string().describe("The kind of finding: pattern, substring, injection, personal_data, ..."),
    text: z.string().optional().describe("The text of the finding."),
    score: z.number().describe("Confidence, 0..1."),
    label: z.string().optional().describe("The label of the classifier, or the rule that matched."),
    service: z.string().optional().describe("The service of a credential."),
    evidence: z
      .string()
      .optional()
      .describe("form-only: a number beside its own name has the right form and a wrong checksum."),
    explanation: z
      .object({
        by: z
          .string()
          .describe("What found it: recognizer, rule, pattern, model, function, names or ad_hoc_recognizer."),
        id: z.string().describe("The recognizer, rule, pattern or model, or the option with the function or names."),
        pattern: z.string().optional().describe("The pattern of an ad-hoc recognizer. Absent for its deny list."),
        context: z
          .string()
          .optional()
          .describe("The word near the value that raised the score, or the name directly before it."),
        check: z
          .object({ id: z.string(), passed: z.boolean() })
          .optional()
          .describe("The check of the value, such as its checksum, and whether the value has passed it."),
      })
      .optional()
      .describe("With the option explain of the scanner, and for ad-hoc recognizers: why it is reported."),
    view: z.string().optional().describe("The decoded view of the text that contains it, such as base64."),
    message: z.int().optional().describe("In a conversation: the index of the message that contains it."),
    path: z
      .string()
      .optional()
      .describe(
        "In a conversation: the string that start and end refer to: messages/5/content → results[2].description.",
      ),
  })
  .describe("A part of the text that explains a verdict.");

/** The field with the sanitized fields beside the texts. */
export const sanitizedFields = {
  sanitized_fields: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("With details: fields beside the texts, with the edits of all scanners."),
};

export const coverage = z
  .object({
    chars: z.int().describe("Length of the text or texts, in code points."),
    scanned_chars: z.int().describe("How many of them all scanners read."),
    truncated: z.boolean().describe("Whether a scanner did not read the whole text."),
    windows: z.int().describe("Number of windows in which the text was read."),
    parts_skipped: z.int().describe("Number of parts of messages that no scanner can read, such as images."),
    suppressed: z.array(z.string()).describe("Scanners that the request suppressed."),
    failed: z.array(z.string()).describe("Scanners that failed, under on_scanner_error: block."),
    untrained_language: z
      .record(z.string(), z.array(z.string()))
      .describe("By scanner: languages that its model was not trained in, so that it did not check text in them."),
    findings_omitted: z
      .record(z.string(), z.int())
      .describe(
        "By scanner: number of findings beyond the first 1,000, which are not listed. Sanitizing removes all of them.",
      ),
    unscanned_sources: z
      .record(z.string(), z.int())
      .describe(
        "By source: code points that no scanner read, because conversation.scan names scanners for other sources.",
      ),
    state_elsewhere: z
      .array(z.string())
      .describe(
        "What the model reads that is not in the request: fields such as previous_response_id, and tools that the provider runs.",
      ),
    unknown_fields: z
      .array(z.string())
      .describe("Fields of the request that guard does not know and did not read; see app.unknown_fields."),
  })
  .describe("How much of the text was scanned.");

/** A check: a scanner and the texts that it has read. */
export const check = z
  .object({
    name: z.string().describe("The name of the check in the other fields, such as PromptInjection[tool]."),
    scanner: z.string().describe("The name of the scanner."),
    type: z.string().describe("The type of the scanner."),
    scope: z
      .string()
      .describe("The texts: latest, output, window, history, or the source of the texts, such as tool or system."),
    is_valid: z.boolean(),
    mode: z
      .literal("monitor")
      .optional()
      .describe("Present if the check only monitors: the text goes on unchanged, and is valid whatever this verdict."),
    outcome: z
      .enum(CHECK_OUTCOMES)
      .describe(
        "passed: the text passed, also if the scanner changed it. rewritten: the text failed, and the scanner rewrote it. flagged: it failed and stayed unchanged. review: it passed, but its " +
          "probability is above review_threshold.",
      ),
    score: z.number().describe("Risk score: below 0 passes, above 0 fails."),
    probability: z.number().optional().describe("The probability that is compared with the threshold, 0..1."),
    timing: z.number().describe("Milliseconds."),
    coverage: z
      .object({ chars: z.int(), scanned_chars: z.int(), truncated: z.boolean(), windows: z.int() })
      .loose()
      .describe("How much of the texts the scanner has read."),
    excepted: z
      .array(
        z.object({
          id: z.string().describe("The id of the exception."),
          reason: z.string(),
          score: z.number().describe("The risk score without the exception."),
          probability: z.number().optional(),
          findings: z.array(finding).describe("The findings that do not count."),
        }),
      )
      .optional()
      .describe("The exceptions that removed findings or the failure. is_valid and score are without them."),
  })
  .describe("The result of one scanner for the texts of one scope.");

/** What checks that only monitor would have done. */
export const monitoredFields = {
  would_block: z
    .array(z.string())
    .optional()
    .describe("Checks that only monitor (mode: monitor) and would have blocked the text. Absent if there are none."),
  would_mask: z
    .array(z.string())
    .optional()
    .describe("Checks that only monitor and would have masked the text. Absent if there are none."),
};

/** Fields of every result. Offsets and lengths are in Unicode code points, or in the unit of `offsets`. */
export const resultFields = {
  is_valid: z.boolean().describe("Whether the text passed every check. Checks that only monitor do not count."),
  scanners: z.record(z.string(), z.number()).describe("Risk score by scanner: below 0 passes, above 0 fails."),
  ...monitoredFields,
  ...reviewFields,
  checks: z.array(check).optional().describe("With details: all checks. Their findings are under their names."),
  findings: z.record(z.string(), z.array(finding)).optional().describe("With details: findings by scanner."),
  edits: z
    .array(edit)
    .optional()
    .describe("With details: the edits that turn a single text into the sanitized text, in ascending order."),
  outcome: z
    .enum(OUTCOMES)
    .optional()
    .describe(
      "With details: what to do with the text. masked: checks failed, but their findings were removed (see app.masking). review: a " +
        "person should decide about the text, which is held if is_valid is false (see app.review).",
    ),
  probabilities: z
    .record(z.string(), z.number())
    .optional()
    .describe("With details: probabilities by scanner, 0..1, which are compared with thresholds."),
  timing: z.record(z.string(), z.number()).optional().describe("With details: milliseconds by scanner."),
  engine_timing: z
    .record(z.string(), z.object({ queued: z.number(), tokenized: z.number(), inferred: z.number() }))
    .optional()
    .describe(
      "With details: milliseconds of queueing, tokenization and inference by model, summed over all texts of the scan.",
    ),
  coverage: coverage.optional().describe("With details: how much of the text was scanned."),
  cache: z
    .enum(CACHE_USES)
    .optional()
    .describe(
      "With details, if results are cached: hit (from the cache; timing is of the original scan), shared (computed by another " +
        "request in progress), miss, or skipped (a request with a vault, or scanners whose verdicts change with time).",
    ),
};

/** The field with the vault of the values that were replaced. */
export const vaultField = {
  vault: z
    .string()
    .optional()
    .describe(
      "The values that Anonymize replaced, sealed. Send it with the output to restore the values, and with the next turn of the " +
        "conversation. Anyone who has it and may call this API can restore the values. Absent if nothing was replaced.",
    ),
};

/** The response of `POST /scan/*`, which rewrites nothing. */
export const scanResult = z.object(resultFields).describe("The result of a scan.");
