import { createHmac } from "node:crypto";
import { resultName } from "../../scan/report.ts";
import { monitoredFields } from "../../service/json-report.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import type { Decision } from "./decisions.ts";

/** Further findings are counted only. */
const MAX_FINDINGS = 100;

export interface RecordOptions {
  /** The hash of the configuration. */
  config: string;
  /** The key of the hashes of texts. */
  textKey: Uint8Array;
  /** Returns the name of the credential of a request. */
  credentialOf(request: Decision["request"]): string | null;
}

function findingsOf(report: Decision["report"]): Record<string, unknown>[] {
  return Object.entries(report.findings).flatMap(([scanner, found]) =>
    found.map(({ type, label, score, start, end, view, message }) => ({
      ...{ scanner, type, label, score },
      ...{ start, end, view, message },
    })),
  );
}

/**
 * Returns the audit record of a decision: caller, result and reasons, without the scanned texts. `text` is a keyed hash (HMAC-SHA-256) of
 * the texts, so that the owner of the key can verify which text was scanned; so is the hash of the request's recognizers.
 */
export function recordOf(
  { request, profile, side, report, cache, recognizers, options, content }: Decision,
  { config, textKey, credentialOf }: RecordOptions,
): Record<string, unknown> {
  const { coverage } = report;
  const findings = findingsOf(report);
  const documents = report.documents?.map(({ isValid, resultsScore }) => ({ valid: isValid, scores: resultsScore }));
  const excepted = (report.documents ?? [report]).flatMap(({ checks }) =>
    checks.flatMap((check) =>
      (check.excepted ?? []).map(({ id, score, findings }) => {
        return { exception: id, scanner: resultName(check), valid: check.isValid, score, findings: findings.length };
      }),
    ),
  );
  const hash = (value: unknown) => createHmac("sha256", textKey).update(canonicalJson(value)).digest("base64url");
  return {
    time: new Date().toISOString(),
    request: request.id,
    route: request.routeOptions.url ?? null,
    credential: credentialOf(request),
    profile: profile.name,
    config,
    side,
    rewrite: options.rewrite,
    valid: report.isValid,
    outcome: report.outcome,
    ...monitoredFields(report),
    ...(report.reviews ? { reviews: report.reviews.map(({ id }) => id) } : {}),
    scores: report.resultsScore,
    ...(cache ? { cache } : {}),
    ...(excepted.length > 0 ? { excepted: excepted.slice(0, MAX_FINDINGS) } : {}),
    // The unit of offsets differs between requests.
    ...(findings.length > 0
      ? { findings: findings.slice(0, MAX_FINDINGS), unit: options.offsets === "codePoint" ? "code_point" : "utf16" }
      : {}),
    ...(findings.length > MAX_FINDINGS ? { findings_omitted: findings.length - MAX_FINDINGS } : {}),
    ...(documents ? { documents } : {}),
    ...(recognizers ? { ad_hoc_recognizers: { added: recognizers.summary, hash: hash(recognizers.given) } } : {}),
    coverage: {
      chars: coverage.chars,
      scanned_chars: coverage.scannedChars,
      truncated: coverage.truncated,
      parts_skipped: coverage.partsSkipped,
      state_elsewhere: coverage.stateElsewhere,
      unknown_fields: coverage.unknownFields,
      suppressed: coverage.suppressed,
      failed: coverage.failed,
    },
    text: hash(content()),
  };
}
