import type { TextReport } from "../../../guard/service-guard.ts";
import { failingChecks } from "../../../scan/report.ts";
import type { Finding } from "../../../scan/scanner.ts";
import { unscannedReasons } from "../../../service/decision.ts";
import { lengthIn } from "../../../text/offsets.ts";
import type { Detector } from "./detector.ts";

/** What a detector found, as the API writes it. */
export interface Detection {
  detection_type: string;
  detection: string;
  /** 0..1 */
  score: number;
  /** What the decision rests on. */
  evidence?: { name: string; value?: string; score?: number }[];
  metadata?: Record<string, unknown>;
}

/** What a detector found in a text, and where. */
export interface ContentDetection extends Detection {
  /** In code points, as the orchestrator counts (`slice_codepoints` in its src/orchestrator). */
  start: number;
  end: number;
  text: string;
}

/** The type of detections that no finding explains. */
const FAILED_CHECK = "failed_check";

/** The type of what is said of texts that were not looked at. */
const COVERAGE = "coverage";

/** Says what was found in a text: each finding of the checks that failed, or the whole text where a check gives no reason. */
export function detectionsIn(text: string, report: TextReport, detector: Detector): ContentDetection[] {
  const whole = { start: 0, end: lengthIn("codePoint", text), text };
  if (isIncomplete(report)) return [{ ...whole, ...incomplete(report) }];
  const failing = countedChecks(report, detector);
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
      // The text as it stands there. What a finding quotes may have been decoded.
      text: points.slice(start, end).join(""),
      detection_type: type,
      detection: label ?? type,
      score: within(score),
      metadata: { ...metadata, ...(view ? { view } : {}) },
    }));
  });
  return detections.sort((a, b) => a.start - b.start || a.end - b.end);
}

/**
 * Says which checks failed for several texts together, with what they found: the surest first, because there are clients that read
 * the first detection only (`ChatDetector` of TrustyAI's provider for Llama Stack).
 */
export function detectionsOf(report: TextReport, detector: Detector): Detection[] {
  const { partsSkipped } = report.coverage;
  const detections = [
    ...(isIncomplete(report) ? [incomplete(report)] : []),
    ...countedChecks(report, detector).map(({ check, findings }): Detection => {
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

/**
 * Says that something was sent that nobody looked at, such as images. It is no finding, hence the score: whoever goes by a threshold
 * never sees it, and whoever reads the list is not told of a text that was not judged.
 */
function notScanned(parts: number): Detection {
  return { detection_type: COVERAGE, detection: "not_scanned", score: 0, metadata: { parts_skipped: parts } };
}

/** Keeps the detections whose score reaches the threshold that a request asks for. */
export function reaching<Of extends Detection>(detections: readonly Of[], threshold: number | null | undefined): Of[] {
  return detections.filter(({ score }) => score >= (threshold ?? 0));
}

function countedChecks({ resultsScore, findings }: TextReport, { counts }: Detector) {
  return failingChecks(resultsScore)
    .filter(counts)
    .map((check) => ({ check, findings: findings[check] ?? [] }));
}

/** Whether a text failed though no check did: something of it was not looked at. Scanners that were not asked do not count. */
function isIncomplete({ isValid, resultsScore, coverage }: TextReport): boolean {
  const noneFailed = Object.values(resultsScore).every((score) => score <= 0);
  return !isValid && noneFailed && reasons({ coverage }).length > 0;
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
  return { name: path ?? label ?? type, ...(text === undefined ? {} : { value: text }), score: within(score) };
}

/** How sure a check is: the probability that its threshold was compared with, or else the surest of its findings. */
function scoreOf({ probabilities }: TextReport, check: string, findings: readonly Finding[]): number {
  const probability = probabilities[check];
  if (probability !== undefined) return within(probability);
  return findings.length === 0 ? 1 : Math.max(...findings.map(({ score }) => within(score)));
}

function within(score: number): number {
  return Math.min(1, Math.max(0, score));
}
