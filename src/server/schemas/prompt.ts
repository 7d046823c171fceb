import { z } from "zod";
import { SOURCES } from "../../scan/source.ts";
import { resultFields, scanFields, vaultField } from "./scan.ts";

/** A prompt to check. */
export const promptRequest = z
  .object({
    prompt: z.string().describe("The prompt."),
    source: z
      .enum(SOURCES)
      .nullish()
      .describe(
        "Where the text comes from: user (default), tool (a tool's result, a document, a page, a mail), assistant, tool_call, tool_definition or system.",
      ),
    ...scanFields,
  })
  .describe("A prompt to check.");

/** The answer of `POST /analyze/prompt`. */
export const promptResult = z
  .object({
    sanitized_prompt: z.string().describe("The prompt, as the scanners rewrote it."),
    ...resultFields,
    ...vaultField,
  })
  .describe("What the scanners say of a prompt, and what they made of its text.");

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
  },
};

const personalData = [
  { start: 9, end: 24, type: "personal_data", text: "ann@example.org", score: 0.95, label: "EMAIL_ADDRESS" },
];

const zebraAt = (start: number) => [
  { start, end: start + 5, type: "substring", text: "zebra", score: 1, label: "zebra" },
];

/** The examples of the API's description, of scanners Anonymize and BanSubstrings, the latter with the word zebra. */
export const promptExamples = {
  request: { prompt: "Write to ann@example.org about the zebra.", details: true },
  analyzed: {
    sanitized_prompt: "Write to [REDACTED_EMAIL_ADDRESS_1] about the zebra.",
    is_valid: false,
    scanners: { Anonymize: 0.9, BanSubstrings: 1 },
    // BanSubstrings was given the text that Anonymize had rewritten.
    findings: { Anonymize: personalData, BanSubstrings: zebraAt(46) },
    ...details,
    vault: "AT6rCk1Yw0dQ0Vd9mE2x",
  },
  scanned: {
    is_valid: false,
    scanners: { Anonymize: 0.9, BanSubstrings: 1 },
    findings: { Anonymize: personalData, BanSubstrings: zebraAt(35) },
    ...details,
  },
};
