import { z } from "zod";
import type { ChatRequest } from "../../scan/chat-request.ts";
import { CHECK_OUTCOMES, type CheckResult, emptyResult, mergeResults, type Scope } from "../../scan/check-result.ts";
import { isWithheld, type MonitoredOutcome, OUTCOMES, type Outcome } from "../../scan/outcome.ts";
import type { ScanCoverage } from "../../scan/report.ts";
import type { Finding } from "../../scan/scanner.ts";
import type { GuardReport } from "../guard.ts";

/*
 * The fields of a guard server's replies that are read. A reply without any of them is invalid, because an unchecked text could pass
 * otherwise.
 */

const count = z.number().int().min(0);
const scores = z.record(z.string(), z.number());
const names = z.array(z.string());

const coverage = z
  .object({
    chars: count,
    scanned_chars: count,
    truncated: z.boolean(),
    windows: count,
    parts_skipped: count,
    suppressed: names,
    failed: names,
    untrained_language: z.record(z.string(), names),
    findings_omitted: z.record(z.string(), count),
    unscanned_sources: z.record(z.string(), count),
    state_elsewhere: names,
    unknown_fields: names,
  })
  .transform(
    (given): ScanCoverage => ({
      chars: given.chars,
      scannedChars: given.scanned_chars,
      truncated: given.truncated,
      windows: given.windows,
      partsSkipped: given.parts_skipped,
      suppressed: given.suppressed,
      failed: given.failed,
      untrainedLanguage: given.untrained_language,
      findingsOmitted: given.findings_omitted,
      unscannedSources: given.unscanned_sources,
      stateElsewhere: given.state_elsewhere,
      unknownFields: given.unknown_fields,
    }),
  );

const finding = z
  .looseObject({ start: count, end: count, type: z.string(), score: z.number() })
  .transform((given) => given as unknown as Finding);

const outcome = {
  is_valid: z.boolean(),
  outcome: z.enum(OUTCOMES),
  would_block: names.optional(),
  would_mask: names.optional(),
  reviews: z
    .array(
      z.object({ id: z.string(), scanner: z.string(), state: z.enum(["pending", "rejected"]), expires: z.string() }),
    )
    .optional(),
};

const check = z.object({
  name: z.string(),
  scanner: z.string(),
  type: z.string(),
  scope: z.string(),
  is_valid: z.boolean(),
  mode: z.literal("monitor").optional(),
  outcome: z.enum(CHECK_OUTCOMES),
  score: z.number(),
  probability: z.number().optional(),
  timing: z.number(),
  coverage: z.looseObject({ chars: count, scanned_chars: count, truncated: z.boolean(), windows: count }),
  excepted: z
    .array(
      z.object({
        id: z.string(),
        reason: z.string(),
        score: z.number(),
        probability: z.number().optional(),
        findings: z.array(finding),
      }),
    )
    .optional(),
});

/** The fields of a report. */
export const report = {
  ...outcome,
  checks: z.array(check),
  scanners: scores,
  findings: z.record(z.string(), z.array(finding)),
  coverage,
};

const toolCall = z.looseObject({
  id: z.string().optional(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const CONTRADICTION = { path: ["outcome"], message: "contradicts is_valid" };

const vault = z.string().min(1).optional();

/** The reply of `POST /analyze/conversation`. */
export const conversationReply = z
  .object({
    ...report,
    sanitized_prompt: z.string(),
    sanitized_messages: z.array(z.looseObject({})),
    sanitized_tools: z.array(z.looseObject({})).optional(),
    sanitized_system: z.custom<NonNullable<ChatRequest["system"]>>(isSystem).optional(),
    sanitized_fields: z.record(z.string(), z.unknown()).optional(),
    vault,
  })
  .refine(isConsistent, CONTRADICTION);

/** The reply of `POST /analyze/documents`. */
export const documentsReply = z
  .object({
    ...outcome,
    documents: z.array(
      z.object({ is_valid: z.boolean(), checks: z.array(check), scanners: scores, sanitized_text: z.string() }),
    ),
    coverage,
    vault,
  })
  .refine(isConsistent, CONTRADICTION);

/** The reply of `POST /analyze/output`. */
export const outputReply = z
  .object({
    ...report,
    sanitized_output: z.string(),
    edits: z.array(z.object({ start: count, end: count, replacement: z.string() })),
    sanitized_tool_calls: z.array(toolCall).optional(),
  })
  .refine(isConsistent, CONTRADICTION);

const atEnd = z
  .object({ event: z.enum(["done", "blocked"]), ...report, at_end: z.array(z.string()).default([]) })
  .refine(isConsistent, CONTRADICTION)
  .refine(({ event, outcome, is_valid }) => (event === "blocked") === isWithheld({ outcome, isValid: is_valid }), {
    path: ["event"],
    message: "contradicts outcome",
  });

/** An event of `POST /analyze/output/stream` with `every_step`. */
export const streamEvent = z.union([
  z.object({ event: z.literal("text"), text: z.string(), waiting: z.number().min(0).nullish() }),
  atEnd,
  z.looseObject({ event: z.literal("error"), status: z.number().int() }),
]);

/** Converts a reply to a report. */
export function toReport(reply: z.output<z.ZodObject<typeof report>> & { at_end?: string[] }): GuardReport {
  return {
    outcome: reply.outcome,
    isValid: reply.is_valid,
    ...toMonitored(reply),
    checks: reply.checks.map((given) => toCheckResult(given, reply.findings[given.name] ?? [])),
    resultsScore: reply.scanners,
    findings: reply.findings,
    coverage: reply.coverage,
    ...(reply.reviews ? { reviews: reply.reviews } : {}),
    ...(reply.at_end ? { atEnd: reply.at_end } : {}),
  };
}

function toCheckResult(
  { name: _, is_valid: isValid, scope, mode, probability, coverage, ...given }: z.output<typeof check>,
  findings: Finding[],
): CheckResult {
  const { scanned_chars: scannedChars, untrained_languages, findings_omitted, ...covered } = coverage;
  return Object.assign(
    { isValid, scope: scope as Scope, findings },
    given,
    mode && { mode },
    probability === undefined ? {} : { probability },
    {
      coverage: Object.assign(
        { scannedChars },
        covered,
        untrained_languages === undefined ? {} : { untrainedLanguages: untrained_languages as string[] },
        findings_omitted === undefined ? {} : { findingsOmitted: findings_omitted as number },
      ),
    },
  );
}

function toMonitored({
  would_block,
  would_mask,
}: Pick<z.output<typeof documentsReply>, "would_block" | "would_mask">): MonitoredOutcome {
  return { ...(would_block && { wouldBlock: would_block }), ...(would_mask && { wouldMask: would_mask }) };
}

/** Converts a reply about several documents to a report with the worst score of each check. */
export function toDocumentsReport(reply: z.output<typeof documentsReply>): GuardReport {
  const { outcome, is_valid, documents, reviews, coverage } = reply;
  const resultsScore: Record<string, number> = {};
  const { checks } = mergeResults(
    documents.map((document) => ({
      checks: document.checks.map((given) => toCheckResult(given, [])),
      suppressed: [],
      coverage: emptyResult().coverage,
    })),
  );
  for (const { scanners } of documents) {
    for (const [name, score] of Object.entries(scanners)) {
      resultsScore[name] = Math.max(resultsScore[name] ?? score, score);
    }
  }
  const asked = reviews ? { reviews } : {};
  return { outcome, isValid: is_valid, ...toMonitored(reply), checks, resultsScore, findings: {}, coverage, ...asked };
}

/** Whether `is_valid` and `outcome` agree. */
function isConsistent({ is_valid, outcome }: { is_valid: boolean; outcome: Outcome }): boolean {
  return outcome === "review" || is_valid === (outcome === "passed");
}

function isSystem(value: unknown): boolean {
  return typeof value === "string" || Array.isArray(value);
}
