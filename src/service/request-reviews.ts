import { type CheckResult, isInReview } from "../scan/check-result.ts";
import type { ReviewDesk, ReviewRequest } from "./review-desk.ts";
import type { ServiceDocument, ServiceReport } from "./service-types.ts";

/**
 * Asks for the reviews of a report, and changes its outcome if somebody has rejected one of its texts. If reviews cannot be kept, the texts
 * are held, because nobody knows whether one of them was rejected.
 */
export async function requestReviews(
  report: ServiceReport,
  desk: ReviewDesk,
  credential: string | undefined,
): Promise<ServiceReport> {
  const texts = report.outcome === "blocked" ? [] : textsInReview(report.checks);
  if (texts.length === 0) return report;
  const kept = await desk.request(texts, credential);
  if (!kept) return withhold(report, texts, "review");
  const reviews = kept.filter((review) => review !== undefined);
  const rejected = texts.filter((_, index) => kept[index]?.state === "rejected");
  const decided = rejected.length > 0 ? withhold(report, rejected, "blocked") : report;
  return reviews.length > 0 ? Object.assign(decided, { reviews }) : decided;
}

/** Returns the texts in review. A window needs a review of its own only if none of its messages does. */
function textsInReview(checks: readonly CheckResult[]): ReviewRequest[] {
  const inReview = checks.filter(isInReview);
  const alone = new Set(inReview.flatMap(({ scanner, scope }) => (scope === "window" ? [] : [scanner])));
  const texts = inReview
    .filter(({ scanner, scope }) => scope !== "window" || !alone.has(scanner))
    .flatMap(({ scanner, inReview: own = [] }) => own.map((text): ReviewRequest => ({ scanner, ...text })));
  return [...new Map(texts.map((one) => [JSON.stringify([one.scanner, one.text]), one])).values()];
}

function withhold(
  report: ServiceReport,
  texts: readonly ReviewRequest[],
  outcome: "review" | "blocked",
): ServiceReport {
  const isAffected = ({ checks }: Pick<ServiceDocument, "checks">) =>
    texts.some(({ scanner, text }) =>
      checks.some((check) => check.scanner === scanner && check.inReview?.some((one) => one.text === text)),
    );
  const documents = report.documents?.map((document) =>
    isAffected(document) ? Object.assign({}, document, { isValid: false }) : document,
  );
  return Object.assign(report, { isValid: false, outcome }, documents && { documents });
}
