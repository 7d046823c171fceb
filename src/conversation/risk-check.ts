import type { AnswerCache } from "../models/call-context.ts";
import { type CheckResult, emptyResult, type ScanResult } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { CompiledException } from "../scan/exceptions/exceptions.ts";
import { type Mode, modeOf } from "../scan/mode.ts";
import { summarize } from "../scan/observer.ts";
import { CONVERSATION_RISK } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { Finding } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { errorKind, ScannerError } from "../support/errors.ts";
import { awaitUnlessAborted } from "../support/promises.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { AgedToolResult } from "./message-groups.ts";
import type { ConversationRisk, RiskAssessment } from "./risk.ts";

/** The texts whose risk is accumulated. */
export interface RiskTexts {
  /** The user messages, oldest first. */
  userMessages: readonly MessageText[];
  toolResults: readonly AgedToolResult[];
}

/** The options of the check. */
export interface RiskOptions extends RunOptions {
  suppress: ReadonlySet<string>;
  /** The type of the scanner whose probabilities add up. Its exceptions for whole texts apply to the risk too. */
  riskScorer?: string | undefined;
}

/** Assesses the accumulated risk of a conversation as one of its checks. */
export async function checkRisk(
  risk: ConversationRisk,
  texts: RiskTexts,
  given: AnswerCache,
  options: RiskOptions,
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
  const monitored = monitoredField(modeOf("user", [options.mode, risk.mode]));
  const observed = observer?.scannerStarted({ name: CONVERSATION_RISK, type: CONVERSATION_RISK, chars, ...monitored });
  const coverage = { chars: 0, scannedChars: 0, truncated: false, windows: texts.userMessages.length };
  result.coverage.windows = coverage.windows;
  const check = (
    decision: Pick<CheckResult, "isValid" | "outcome" | "score" | "findings" | "excepted">,
  ): ScanResult => {
    const milliseconds = performance.now() - start;
    if (decision.outcome !== "error") observed?.ended({ milliseconds, verdict: summarize(decision) });
    result.checks.push(
      Object.assign({ type: CONVERSATION_RISK, timing: milliseconds, coverage }, id, monitored, decision),
    );
    return result;
  };
  try {
    const context = { signal, answers: observed ? given.forScanner(observed) : given };
    const assess = (texts: RiskTexts): Promise<RiskAssessment> => {
      const work = risk.assess(
        texts.userMessages.map(({ text }) => text),
        context,
        texts.toolResults,
      );
      onWork?.(work);
      return awaitUnlessAborted(work, signal);
    };
    const assessment = await assess(texts);
    const { isValid, score } = assessment;
    const findings = isValid ? [] : contributions(texts, assessment, risk.minScore, options.offsets);
    const counted = isValid ? undefined : countedTexts(texts, options);
    if (counted) {
      const others = await assess(counted.texts);
      if (others.isValid) {
        const excepted = counted.exceptions.map(({ id, reason }) => ({ id, reason, score, findings }));
        return check({ isValid: true, outcome: "passed", score: others.score, findings: [], excepted });
      }
    }
    return check({ isValid, outcome: isValid ? "passed" : "flagged", score, findings });
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    observed?.ended({ milliseconds: performance.now() - start, error: errorKind(reason) });
    signal?.throwIfAborted();
    if (options.onScannerError !== "block" && !monitored) throw new ScannerError(CONVERSATION_RISK, error);
    return check({ isValid: false, outcome: "error", score: FAILED, findings: [] });
  }
}

function monitoredField(mode: Mode): Pick<CheckResult, "mode"> | undefined {
  return mode === "monitor" ? { mode } : undefined;
}

/** Blanks the texts that exceptions remove from the risk. Undefined if there are none. */
function countedTexts(
  { userMessages, toolResults }: RiskTexts,
  { exceptions, credential, riskScorer }: RiskOptions,
): { texts: RiskTexts; exceptions: CompiledException[] } | undefined {
  const applied = new Set<CompiledException>();
  const counted = (message: MessageText): MessageText => {
    const exception = exceptions?.forWhole(message.text, {
      ...{ name: CONVERSATION_RISK, type: riskScorer ?? CONVERSATION_RISK },
      ...{ side: "input", source: message.source, credential },
    });
    if (!exception) return message;
    applied.add(exception);
    return { ...message, text: "" };
  };
  const texts = {
    userMessages: userMessages.map(counted),
    toolResults: toolResults.map((result) => ({ ...result, text: counted(result.message).text })),
  };
  return applied.size > 0 ? { texts, exceptions: [...applied] } : undefined;
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
