import type { AnswerCache } from "../models/call-context.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { summaryOf } from "../scan/observer.ts";
import { CONVERSATION_RISK } from "../scan/result-names.ts";
import { addVerdict, emptyReport, type RunOptions, type ScanReport } from "../scan/scan.ts";
import type { Finding, Verdict } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { errorKind, ScannerError } from "../support/errors.ts";
import { withSignal } from "../support/with-signal.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { AgedText, ConversationRisk } from "./risk.ts";

/** The texts whose risk adds up. */
interface Assessed {
  /** The user messages, with the oldest first. */
  messages: readonly MessageText[];
  toolResults: readonly (AgedText & { of: MessageText })[];
}

/** Assesses the accumulated risk of a conversation, as one of its checks. */
export async function riskReport(
  risk: ConversationRisk,
  { messages, toolResults }: Assessed,
  given: AnswerCache,
  { suppress, signal, observer, offsets, onScannerError, onWork }: RunOptions & { suppress: ReadonlySet<string> },
): Promise<ScanReport> {
  const report = emptyReport();
  if (suppress.has(CONVERSATION_RISK)) {
    report.coverage.suppressed.push(CONVERSATION_RISK);
    return report;
  }
  const start = performance.now();
  const chars = messages.reduce((sum, { text }) => sum + text.length, 0);
  const observed = observer?.scannerStarted({ name: CONVERSATION_RISK, type: CONVERSATION_RISK, chars });
  const answers = observed ? given.forScanner(observed) : given;
  const coverage = { chars: 0, scannedChars: 0, truncated: false, windows: messages.length };
  let verdict: Verdict;
  try {
    const work = risk.assess(
      messages.map(({ text }) => text),
      signal,
      answers,
      toolResults,
    );
    onWork?.(work);
    const { isValid, score, scores, toolScores } = await withSignal(work, signal);
    const added = [
      ...messages.map((text, index) => ({ text, score: scores[index] ?? 0, label: `user message ${index + 1}` })),
      ...toolResults.map(({ of }, index) => ({ text: of, score: toolScores[index] ?? 0, label: "tool result" })),
    ];
    const findings = isValid ? [] : contributions(added, risk.minScore, offsets);
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
 * Returns a finding for each text that added to the risk. The label of a user message says which one it is, where only user messages are
 * counted.
 */
function contributions(
  added: readonly { text: MessageText; score: number; label: string }[],
  minScore: number,
  unit: OffsetUnit = "utf16",
): Finding[] {
  return added.flatMap(({ text: { text, message, path }, score, label }) => {
    if (score < minScore) return [];
    const place = { path, ...(message === undefined ? {} : { message }) };
    return [{ start: 0, end: lengthIn(unit, text), type: "message", score: Math.min(1, score), label, ...place }];
  });
}
