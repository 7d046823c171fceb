import { z } from "zod";
import { SOURCES } from "../../scan/source.ts";
import { resultFields, sanitizedFields, scanFields, vaultField } from "./scan.ts";

export const promptRequest = z
  .object({
    prompt: z.string().describe("The prompt."),
    source: z
      .enum(SOURCES)
      .nullish()
      .describe(
        "The source of the text: user (default), tool (a tool result, document, page or mail), assistant, tool_call, tool_definition or system.",
      ),
    ...scanFields,
  })
  .describe("A prompt to check.");

/** The response of `POST /analyze/prompt`. */
export const promptResult = z
  .object({
    sanitized_prompt: z.string().describe("The prompt with the edits of all scanners."),
    ...sanitizedFields,
    ...resultFields,
    ...vaultField,
  })
  .describe("The result of a prompt, with its sanitized text.");

const details = {
  outcome: "blocked",
  probabilities: {},
  timing: { Anonymize: 4.2, BanSubstrings: 0.1 },
  engine_timing: { "embedded:ner": { queued: 0.1, tokenized: 0.2, inferred: 3.8 } },
  coverage: {
    chars: 41,
    scanned_chars: 41,
    truncated: false,
    windows: 1,
    parts_skipped: 0,
    suppressed: [],
    failed: [],
    untrained_language: {},
    findings_omitted: {},
    unscanned_sources: {},
    state_elsewhere: [],
    unknown_fields: [],
  },
};

const findings = {
  Anonymize: [
    { start: 9, end: 24, type: "personal_data", text: "ann@example.org", score: 0.95, label: "EMAIL_ADDRESS" },
  ],
  BanSubstrings: [{ start: 35, end: 40, type: "substring", text: "zebra", score: 1, label: "zebra" }],
};

const check = (name: string, outcome: string, score: number, timing: number) => ({
  ...{ name, scanner: name, type: name, scope: "latest", is_valid: false, outcome, score, timing },
  coverage: { chars: 41, scanned_chars: 41, truncated: false, windows: 1 },
});
const banSubstrings = check("BanSubstrings", "flagged", 1, 0.1);

/** Examples with the scanners Anonymize, and BanSubstrings for the word zebra. */
export const promptExamples = {
  request: { prompt: "Write to ann@example.org about the zebra.", details: true },
  analyzed: {
    sanitized_prompt: "Write to [REDACTED_EMAIL_ADDRESS_1] about the zebra.",
    is_valid: false,
    scanners: { Anonymize: 0.9, BanSubstrings: 1 },
    checks: [check("Anonymize", "rewritten", 0.9, 4.2), banSubstrings],
    findings,
    edits: [{ start: 9, end: 24, replacement: "[REDACTED_EMAIL_ADDRESS_1]" }],
    ...details,
    vault: "AT6rCk1Yw0dQ0Vd9mE2x",
  },
  scanned: {
    is_valid: false,
    scanners: { Anonymize: 0.9, BanSubstrings: 1 },
    checks: [check("Anonymize", "flagged", 0.9, 4.2), banSubstrings],
    findings,
    ...details,
  },
};
