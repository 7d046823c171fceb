import { ScannerError } from "../errors.ts";
import type { AnswerCache } from "../models/answer-cache.ts";
import { errorKind, summaryOf } from "../observer.ts";
import { CONVERSATION_RISK } from "../result-names.ts";
import { addVerdict, emptyReport, type RunOptions, type ScanReport } from "../scan.ts";
import type { Finding, Verdict } from "../scanner.ts";
import { FAILED } from "../scanners/score.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { ConversationRisk } from "./risk.ts";

/** Assesses the accumulated risk of a conversation, as one of its checks. */
export async function riskReport(
  risk: ConversationRisk,
  userTexts: readonly string[],
  given: AnswerCache,
  { suppress, signal, observer, offsets, onScannerError }: RunOptions & { suppress: ReadonlySet<string> },
): Promise<ScanReport> {
  const report = emptyReport();
  if (suppress.has(CONVERSATION_RISK)) {
    report.coverage.suppressed.push(CONVERSATION_RISK);
    return report;
  }
  const start = performance.now();
  const chars = userTexts.reduce((sum, text) => sum + text.length, 0);
  const observed = observer?.scannerStarted({ name: CONVERSATION_RISK, type: CONVERSATION_RISK, chars });
  const answers = observed ? given.observedBy(observed) : given;
  const coverage = { chars: 0, scannedChars: 0, truncated: false, windows: userTexts.length };
  let verdict: Verdict;
  try {
    const { isValid, score, scores } = await risk.assess(userTexts, signal, answers);
    const findings = isValid ? [] : contributions(userTexts, scores, risk.minScore, offsets);
    verdict = { isValid, score, findings, coverage };
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    observed?.ended({ milliseconds: performance.now() - start, error: errorKind(reason) });
    signal?.throwIfAborted();
    if (onScannerError !== "block") throw new ScannerError(CONVERSATION_RISK, error);
    report.coverage.failed.push(CONVERSATION_RISK);
    const failing = { isValid: false, score: FAILED, findings: [], coverage };
    addVerdict(report, CONVERSATION_RISK, failing, performance.now() - start);
    return report;
  }
  const milliseconds = performance.now() - start;
  observed?.ended({ milliseconds, verdict: summaryOf(verdict) });
  addVerdict(report, CONVERSATION_RISK, verdict, milliseconds);
  return report;
}

/**
 * Returns a finding for each message that added to the risk. The offsets are offsets in the message that the label names, such as
 * `user message 3`, where only user messages are counted.
 */
function contributions(
  userTexts: readonly string[],
  scores: readonly number[],
  minScore: number,
  unit: OffsetUnit = "utf16",
): Finding[] {
  return userTexts.flatMap((text, index) => {
    const score = scores[index] ?? 0;
    return score >= minScore
      ? [
          {
            start: 0,
            end: lengthIn(unit, text),
            type: "message",
            score: Math.min(1, score),
            label: `user message ${index + 1}`,
          },
        ]
      : [];
  });
}
