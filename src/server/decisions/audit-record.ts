import { createHmac } from "node:crypto";
import { canonicalJson } from "../../support/canonical-json.ts";
import type { Decision } from "./decisions.ts";

/** The most findings of a record. */
const MOST_FINDINGS = 100;

/** Of what records are made besides decisions. */
export interface RecordOptions {
  /** A hash of the configuration, without its secrets. */
  config: string;
  /** The key of the hashes of texts. */
  textKey: Uint8Array;
  /** The name of the credential of a request. */
  credentialOf(request: Decision["request"]): string | null;
}

/**
 * What is recorded of a decision: who asked, what was decided and why, and nothing that the texts say. `text` is a keyed hash
 * (HMAC-SHA-256) of the texts, by which somebody who has the key and a text can tell whether it is the one.
 */
export function recordOf(
  { request, profile, side, report, cache, asked, content }: Decision,
  { config, textKey, credentialOf }: RecordOptions,
): Record<string, unknown> {
  const { chars, scannedChars, truncated, partsSkipped, suppressed, failed } = report.coverage;
  const findings = Object.entries(report.findings).flatMap(([scanner, found]) =>
    found.map(({ type, label, score, start, end, view, message }) => ({
      scanner,
      type,
      label,
      score,
      start,
      end,
      view,
      message,
    })),
  );
  const documents = report.documents?.map(({ isValid, resultsScore }) => ({ valid: isValid, scores: resultsScore }));
  return {
    time: new Date().toISOString(),
    request: request.id,
    route: request.routeOptions.url ?? null,
    credential: credentialOf(request),
    profile: profile.name,
    config,
    side,
    rewrite: asked.rewrite,
    valid: report.isValid,
    outcome: report.outcome,
    scores: report.resultsScore,
    ...(cache ? { cache } : {}),
    // Places are not told in the same unit for all requests, so that the unit is told with them.
    ...(findings.length > 0
      ? { findings: findings.slice(0, MOST_FINDINGS), unit: asked.offsets === "codePoint" ? "code_point" : "utf16" }
      : {}),
    ...(findings.length > MOST_FINDINGS ? { findings_omitted: findings.length - MOST_FINDINGS } : {}),
    ...(documents ? { documents } : {}),
    coverage: { chars, scanned_chars: scannedChars, truncated, parts_skipped: partsSkipped, suppressed, failed },
    text: createHmac("sha256", textKey).update(canonicalJson(content())).digest("base64url"),
  };
}
