import type { TextReport } from "../../../guard/local-guard.ts";
import { withholdingChecks } from "../../../scan/outcome.ts";
import type { Finding } from "../../../scan/scanner.ts";
import { unscannedReasons } from "../../../service/decision.ts";
import { lengthIn } from "../../../text/offsets.ts";
import type { Detector } from "./detector.ts";

/** A detection in the format of the API. */
export interface Detection {
  detection_type: string;
  detection: string;
  /** 0..1 */
  score: number;
  evidence?: { name: string; value?: string; score?: number }[];
  metadata?: Record<string, unknown>;
}

/** A detection with its range in a text. */
export interface ContentDetection extends Detection {
  /** In code points, as in the orchestrator (`slice_codepoints` in its src/orchestrator). */
  start: number;
  end: number;
  text: string;
}

/** The type of detections without a finding. */
const FAILED_CHECK = "failed_check";

/** The type of detections about texts that were not scanned. */
const COVERAGE = "coverage";

/** Returns the findings of failed checks in a text, or the whole text for a check without findings. */
export function detectionsIn(text: string, report: TextReport, detector: Detector): ContentDetection[] {
  const whole = { start: 0, end: lengthIn("codePoint", text), text };
  if (isIncomplete(report)) return [{ ...whole, ...incomplete(report) }];
  const failing = failedChecks(report, detector);
  if (failing.length === 0) return [];
  const points = Array.from(text);
  const detections = failing.flatMap(({ check, findings }): ContentDetection[] => {
    const metadata = { scanner: check };
    if (findings.length === 0) {
      const score = scoreOf(report, check, findings);
      return [{ ...whole, detection_type: FAILED_CHECK, detection: check, score, metadata }];
    }
    return findings.map(({ start, end, type, label, score, view }) => ({
      start,
      end,
      // The text of a finding may be decoded, so take it from the original.
      text: points.slice(start, end).join(""),
      detection_type: type,
      detection: label ?? type,
      score: clamp(score),
      metadata: { ...metadata, ...(view ? { view } : {}) },
    }));
  });
  return detections.sort((a, b) => a.start - b.start || a.end - b.end);
}

/**
 * Returns the failed checks of several texts with their findings. The highest score is first, because some clients read only the first
 * detection (`ChatDetector` of TrustyAI's provider for Llama Stack).
 */
export function detectionsOf(report: TextReport, detector: Detector): Detection[] {
  const { partsSkipped } = report.coverage;
  const detections = [
    ...(isIncomplete(report) ? [incomplete(report)] : []),
    ...failedChecks(report, detector).map(({ check, findings }): Detection => {
      const [worst] = [...findings].sort((a, b) => b.score - a.score);
      return {
        detection_type: worst?.type ?? FAILED_CHECK,
        detection: check,
        score: scoreOf(report, check, findings),
        ...(findings.length > 0 ? { evidence: findings.map(evidenceOf) } : {}),
      };
    }),
    ...(partsSkipped > 0 ? [notScanned(partsSkipped)] : []),
  ];
  return detections.sort((a, b) => b.score - a.score);
}

/** Reports parts that no scanner can read, such as images. Its score is 0, so that every threshold filters it out. */
function notScanned(parts: number): Detection {
  return { detection_type: COVERAGE, detection: "not_scanned", score: 0, metadata: { parts_skipped: parts } };
}

/** Returns the detections with at least the score of the threshold. */
export function aboveThreshold<Of extends Detection>(
  detections: readonly Of[],
  threshold: number | null | undefined,
): Of[] {
  return detections.filter(({ score }) => score >= (threshold ?? 0));
}

function failedChecks(report: TextReport, { includes }: Detector) {
  return withholdingChecks(report)
    .filter(includes)
    .map((check) => ({ check, findings: report.findings[check] ?? [] }));
}

/** Returns whether a text failed without a failed check, because a part of it was not scanned. Suppressed scanners do not count. */
function isIncomplete(report: TextReport): boolean {
  return !report.isValid && withholdingChecks(report).length === 0 && reasons(report).length > 0;
}

function incomplete(report: TextReport): Detection {
  return {
    detection_type: COVERAGE,
    detection: "incomplete_coverage",
    score: 1,
    metadata: { reasons: reasons(report) },
  };
}

function reasons({ coverage }: Pick<TextReport, "coverage">): string[] {
  return unscannedReasons({ coverage: { ...coverage, suppressed: [] } });
}

function evidenceOf({ path, text, label, type, score }: Finding) {
  return { name: path ?? label ?? type, ...(text === undefined ? {} : { value: text }), score: clamp(score) };
}

/** Returns the probability of a check, or the highest score of its findings. */
function scoreOf({ probabilities }: TextReport, check: string, findings: readonly Finding[]): number {
  const probability = probabilities[check];
  if (probability !== undefined) return clamp(probability);
  return findings.length === 0 ? 1 : Math.max(...findings.map(({ score }) => clamp(score)));
}

function clamp(score: number): number {
  return Math.min(1, Math.max(0, score));
}
