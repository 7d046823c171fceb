import { z } from "zod";
import { OUTCOMES } from "../../scan/outcome.ts";
import type { OffsetUnit } from "../../text/offsets.ts";
import { CACHE_USES } from "../cache/result-cache.ts";

/** Body fields of every scan. Fields that are not known are ignored, as llm-guard does. */
export const scanFields = {
  scanners_suppress: z
    .array(z.string())
    .nullish()
    .describe("Names of scanners to leave out, of type or of instance; X leaves out X[window], X[tool] and so on too."),
  profile: z
    .string()
    .nullish()
    .describe("The profile that judges, for callers who may choose one; the header X-Guard-Profile says the same."),
  thresholds: z
    .record(z.string(), z.number())
    .nullish()
    .describe(
      "Thresholds in the place of those of the configuration, by the names of scanners, where the profile allows that.",
    ),
  details: z.boolean().nullish().describe("Adds findings, probabilities, timing and coverage to the answer."),
  offsets: z
    .enum(["code_point", "utf16"])
    .nullish()
    .describe("The unit of offsets and lengths in the answer: Unicode code points (the default) or UTF-16 code units."),
  vault: z
    .string()
    .nullish()
    .describe(
      "The vault of the latest answer in the same conversation: Deanonymize restores from it, and what was replaced before " +
        "gets the same placeholder again.",
    ),
};

/** Body fields of every scan, as parsed. */
export interface ScanFields {
  scanners_suppress?: string[] | null | undefined;
  profile?: string | null | undefined;
  thresholds?: Record<string, number> | null | undefined;
  details?: boolean | null | undefined;
  offsets?: "code_point" | "utf16" | null | undefined;
  vault?: string | null | undefined;
}

/** The unit of offsets that a body asks for. */
export function offsetUnitOf({ offsets }: Pick<ScanFields, "offsets">): OffsetUnit {
  return offsets === "utf16" ? "utf16" : "codePoint";
}

/** A replacement of one part of a text. */
export const edit = z.object({
  start: z.int().describe("In code points of the original text, or in the unit of `offsets`."),
  end: z.int().describe("The end of the replaced range, which does not include it."),
  replacement: z.string().describe("The text that takes its place."),
});

/** Why a scanner decided as it did. */
export const finding = z
  .object({
    start: z.int().describe("In code points of the original text, or in the unit of `offsets`."),
    end: z.int().describe("The end of the range, in the same unit; the range does not include it."),
    type: z.string().describe("What was found: pattern, substring, injection, personal_data, ..."),
    text: z.string().optional().describe("The text that was found."),
    score: z.number().describe("How sure the scanner is, 0..1."),
    label: z.string().optional().describe("The label of the classifier, or the rule that matched."),
    service: z.string().optional().describe("The service whose credential was found."),
    view: z.string().optional().describe("The decoded view that it was found in, such as base64."),
    message: z.int().optional().describe("In a conversation: the index of the message that it was found in."),
    path: z
      .string()
      .optional()
      .describe(
        "In a conversation: the string that it was found in, in whose code points start and end count: messages/5/content → results[2].description.",
      ),
  })
  .describe("Why a scanner decided as it did.");

/** How much of the text was scanned. */
export const coverage = z
  .object({
    chars: z.int().describe("Length of the text or texts, in code points."),
    scanned_chars: z.int().describe("How many of them every scanner looked at."),
    truncated: z.boolean().describe("Whether a scanner left out some of a text."),
    windows: z.int().describe("In how many pieces the text was read."),
    parts_skipped: z.int().describe("Parts of messages that no scanner can read, such as images."),
    suppressed: z.array(z.string()).describe("Scanners that the request left out."),
    failed: z.array(z.string()).describe("Scanners that failed, under on_scanner_error: block."),
    untrained_language: z
      .record(z.string(), z.array(z.string()))
      .describe(
        "Languages that a scanner's model does not know, so that it left out what is written in them, by scanner.",
      ),
    findings_omitted: z
      .record(z.string(), z.int())
      .describe(
        "How many findings there are besides the 1,000 that are told of a scanner at most, by scanner. What is taken out of a text is every one of them.",
      ),
    unscanned_sources: z
      .record(z.string(), z.int())
      .describe("Code points that no scanner looked at, by source: the scanners of conversation.scan look at others."),
  })
  .describe("How much was looked at.");

/** One check: a scanner and the texts that it looked at. */
export const check = z
  .object({
    name: z.string().describe("The name of the check in the other fields, such as PromptInjection[tool]."),
    scanner: z.string().describe("The name of the scanner."),
    type: z.string().describe("The kind of scanner."),
    scope: z
      .string()
      .describe("The texts: latest, output, window, history, or the source of the texts, such as tool or system."),
    is_valid: z.boolean(),
    outcome: z
      .enum(["passed", "rewritten", "flagged", "error"])
      .describe("rewritten: the text failed, and the scanner rewrote it. flagged: it failed and stayed as it was."),
    score: z.number().describe("Risk score: below 0 passes, above 0 fails."),
    probability: z.number().optional().describe("What the threshold was compared with, 0..1."),
    timing: z.number().describe("Milliseconds."),
    coverage: z
      .object({ chars: z.int(), scanned_chars: z.int(), truncated: z.boolean(), windows: z.int() })
      .loose()
      .describe("How much of the texts the scanner looked at."),
  })
  .describe("What one scanner says of the texts of one scope.");

/** Fields of every answer to a scan. Offsets and lengths are in Unicode code points. */
export const resultFields = {
  is_valid: z.boolean().describe("Whether the text passed every check."),
  scanners: z.record(z.string(), z.number()).describe("Risk score by scanner: below 0 passes, above 0 fails."),
  checks: z.array(check).optional().describe("With details: every check, whose findings are under its name."),
  findings: z
    .record(z.string(), z.array(finding))
    .optional()
    .describe("With details: why each scanner decided as it did."),
  edits: z
    .array(edit)
    .optional()
    .describe("With details: the edits that turn a single text into the sanitized text, in ascending order."),
  outcome: z
    .enum(OUTCOMES)
    .optional()
    .describe(
      "With details: what becomes of the text. masked: checks failed, but they took out what they found (see app.masking).",
    ),
  probabilities: z
    .record(z.string(), z.number())
    .optional()
    .describe("With details: what the threshold was compared with, 0..1, by scanner that goes by a probability."),
  timing: z.record(z.string(), z.number()).optional().describe("With details: milliseconds by scanner."),
  engine_timing: z
    .record(z.string(), z.object({ queued: z.number(), tokenized: z.number(), inferred: z.number() }))
    .optional()
    .describe(
      "With details: milliseconds by model that texts waited, were tokenized and ran, added up over all texts of the scan.",
    ),
  coverage: coverage.optional().describe("With details: how much was looked at."),
  cache: z
    .enum(CACHE_USES)
    .optional()
    .describe(
      "With details, where results are cached: hit (it was there; timing is that of the scan that made it), shared (another request " +
        "was being scanned just then), miss, or skipped (a request with a vault, or scanners whose verdicts change with time).",
    ),
};

/** The field of an answer that holds the vault with the values that were removed from its text. */
export const vaultField = {
  vault: z
    .string()
    .optional()
    .describe(
      "What Anonymize replaced, sealed. Hand it in with the output, to restore the values, and with the next turn of the " +
        "conversation. Whoever has it and may call this API can see the values. Absent when nothing was replaced.",
    ),
};

/** The answer of `POST /scan/*`, which rewrites nothing. */
export const scanResult = z.object(resultFields).describe("What the scanners say of a text.");
