import type { AnswerCache } from "../models/call-context.ts";
import { type CheckResult, emptyResult, type ScanResult } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { summarize } from "../scan/observer.ts";
import { CONVERSATION_RISK } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { Finding } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { errorKind, ScannerError } from "../support/errors.ts";
import { awaitUnlessAborted } from "../support/promises.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { AgedToolResult } from "./message-groups.ts";
import type { ConversationRisk } from "./risk.ts";

/** The texts whose risk is accumulated. */
export interface RiskTexts {
  /** The user messages, oldest first. */
  userMessages: readonly MessageText[];
  toolResults: readonly AgedToolResult[];
}

/** Assesses the accumulated risk of a conversation as one of its checks. */
export async function checkRisk(
  risk: ConversationRisk,
  texts: RiskTexts,
  given: AnswerCache,
  options: RunOptions & { suppress: ReadonlySet<string> },
): Promise<ScanResult> {
  const result = emptyResult();
  const id = { scanner: CONVERSATION_RISK, scope: "latest" } as const;
  if (options.suppress.has(CONVERSATION_RISK)) {
    result.suppressed.push(id);
    return result;
  }
  const { signal, observer, onWork } = options;
  const start = performance.now();
  const chars = texts.userMessages.reduce((sum, { text }) => sum + text.length, 0);
  const observed = observer?.scannerStarted({ name: CONVERSATION_RISK, type: CONVERSATION_RISK, chars });
  const coverage = { chars: 0, scannedChars: 0, truncated: false, windows: texts.userMessages.length };
  result.coverage.windows = coverage.windows;
  const check = (decision: Pick<CheckResult, "isValid" | "outcome" | "score" | "findings">): ScanResult => {
    const milliseconds = performance.now() - start;
    if (decision.outcome !== "error") observed?.ended({ milliseconds, verdict: summarize(decision) });
    result.checks.push(Object.assign({ type: CONVERSATION_RISK, timing: milliseconds, coverage }, id, decision));
    return result;
  };
  try {
    const work = risk.assess(
      texts.userMessages.map(({ text }) => text),
      { signal, answers: observed ? given.forScanner(observed) : given },
      texts.toolResults,
    );
    onWork?.(work);
    const assessment = await awaitUnlessAborted(work, signal);
    const { isValid, score } = assessment;
    const findings = isValid ? [] : contributions(texts, assessment, risk.minScore, options.offsets);
    return check({ isValid, outcome: isValid ? "passed" : "flagged", score, findings });
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    observed?.ended({ milliseconds: performance.now() - start, error: errorKind(reason) });
    signal?.throwIfAborted();
    if (options.onScannerError !== "block") throw new ScannerError(CONVERSATION_RISK, error);
    return check({ isValid: false, outcome: "error", score: FAILED, findings: [] });
  }
}

/** Returns a finding for each text that added to the risk. Labels number the user messages. */
function contributions(
  { userMessages, toolResults }: RiskTexts,
  { scores, toolScores }: { scores: readonly number[]; toolScores: readonly number[] },
  minScore: number,
  unit: OffsetUnit = "utf16",
): Finding[] {
  const scored = [
    ...userMessages.map((text, index) => ({ text, score: scores[index] ?? 0, label: `user message ${index + 1}` })),
    ...toolResults.map(({ message }, index) => ({
      text: message,
      score: toolScores[index] ?? 0,
      label: "tool result",
    })),
  ];
  return scored.flatMap(({ text: { text, message, path }, score, label }) => {
    if (score < minScore) return [];
    const location = { path, ...(message === undefined ? {} : { message }) };
    return [{ start: 0, end: lengthIn(unit, text), type: "message", score: Math.min(1, score), label, ...location }];
  });
}
