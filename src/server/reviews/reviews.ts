import { createHmac } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { Problem } from "../../http-server/problem.ts";
import { expiryOf, hashOfText, idOf } from "../../scan/exceptions/exception.ts";
import type { Review, ReviewDesk, ReviewRequest } from "../../service/review-desk.ts";
import { GuardError } from "../../support/errors.ts";
import type { StoredException } from "../exceptions/exception-store.ts";
import type { RunTimeExceptions } from "../exceptions/run-time-exceptions.ts";
import type { ReviewStore, StoredReview } from "./review-store.ts";

/** The longest text that is kept for a review, in UTF-16 code units. All pending ones together then take at most 64 MiB. */
const MAX_TEXT = 32_768;

/** What happens with a review, for the metrics. */
export type ReviewEvent = "requested" | "approved" | "rejected" | "dropped";

export interface ReviewsOptions {
  store: ReviewStore;
  exceptions: RunTimeExceptions;
  /** The key of the hashes of exact texts, which also makes the ids. */
  key: Uint8Array;
  /** Milliseconds until a review is forgotten, and until an approved text is in review again. */
  lifetimes: { review: number; approval: number };
  log: Pick<FastifyBaseLogger, "info" | "warn">;
  /** Counts events by scanner. */
  count(scanner: string, event: ReviewEvent, number?: number): void;
  /** Records an event in the audit log. */
  record(event: Record<string, unknown>): Promise<void>;
}

/** A decision of a person about a text. */
export interface ReviewDecision {
  decision: "approve" | "reject";
  reason: string;
  /** The credential of the person. Null without authentication. */
  credential: string | null;
  /** The id of the request. */
  request: string;
}

/** The reviews of a server: it keeps texts until a person has approved or rejected them. */
export class Reviews implements ReviewDesk {
  readonly #options: ReviewsOptions;

  constructor(options: ReviewsOptions) {
    this.#options = options;
  }

  get kind(): ReviewStore["kind"] {
    return this.#options.store.kind;
  }

  /** The number of pending reviews; undefined if the store does not respond. */
  count(): Promise<number | undefined> {
    return this.#options.store.count();
  }

  async request(
    texts: readonly ReviewRequest[],
    credential: string | undefined,
  ): Promise<readonly (Review | undefined)[] | undefined> {
    const reviews: (Review | undefined)[] = [];
    for (const text of texts) {
      if (text.text.length > MAX_TEXT) {
        reviews.push(undefined);
        continue;
      }
      const review = await this.#open(text, credential ?? null);
      if (!review) return undefined;
      const { id, scanner, expires, rejection } = review;
      reviews.push({ id, scanner, state: rejection ? "rejected" : "pending", expires });
    }
    return reviews;
  }

  async #open(given: ReviewRequest, credential: string | null): Promise<StoredReview | undefined> {
    const { store, key, lifetimes, log, count, record } = this.#options;
    const { scanner, text, source, probability } = given;
    const now = Date.now();
    const wanted: StoredReview = {
      id: reviewId(key, given),
      ...{ scanner, text, source, probability },
      textHash: hashOfText(key, text),
      credential,
      requested: new Date(now).toISOString(),
      expires: new Date(now + lifetimes.review).toISOString(),
    };
    const opened = await store.open(wanted);
    if (!opened?.isNew) return opened?.review;
    const { review, dropped } = opened;
    count(scanner, "requested");
    log.info({ review: review.id, scanner }, "a text waits for a review");
    if (dropped > 0) {
      count(scanner, "dropped", dropped);
      log.warn({ dropped }, "too many texts wait for a review: the oldest were dropped");
    }
    await record({ time: wanted.requested, event: "review_requested", credential, review: described(review) });
    return review;
  }

  /**
   * Returns the reviews that have not expired, the oldest first. Texts that an exception lets pass by now are left out.
   *
   * @throws GuardError if the store does not respond.
   */
  async list(): Promise<readonly StoredReview[]> {
    const { store, exceptions } = this.#options;
    const all = await store.list();
    if (!all) throw unavailable();
    await exceptions.refresh();
    const isExcepted = ({ scanner, textHash }: StoredReview) =>
      exceptions.all.some(
        (one) =>
          one.textHash === textHash && one.scanners.includes(scanner) && (expiryOf(one.expires) ?? 0) > Date.now(),
      );
    const kept = all.filter((review) => !isExcepted(review));
    for (const { id } of all.filter((review) => !kept.includes(review))) await store.remove(id);
    return kept;
  }

  /**
   * Decides about a text. An approved text gets an exception. A rejected one is blocked until the review expires.
   *
   * @throws Problem 404 for an unknown id. GuardError if the decision cannot be kept: nothing has changed then.
   */
  async decide(id: string, { decision, reason, credential, request }: ReviewDecision): Promise<StoredReview> {
    const { store, exceptions, log, count, record } = this.#options;
    const review = (await this.list()).find((one) => one.id === id);
    if (!review) throw new Problem(404, "There is no such review: it has expired, or somebody has approved the text.");
    const decided = new Date().toISOString();
    const isApproved = decision === "approve";
    const exception = this.#exceptionFor(review, { reason, created: decided, createdBy: credential });
    if (isApproved) exceptions.assertRoomFor(exception.id);
    await record({
      ...{ time: decided, event: "review_decided", request, credential },
      review: { ...described(review), decision, reason },
    });
    if (isApproved) await exceptions.add(exception);
    const rejected = { ...review, rejection: { decided, decidedBy: credential, reason } };
    const isKept = await (isApproved ? store.remove(id) : store.reject(rejected));
    // The exception is in effect, so the text passes even if its review is still listed.
    if (!isKept && !isApproved) throw unavailable();
    count(review.scanner, isApproved ? "approved" : "rejected");
    log.info({ review: id, scanner: review.scanner, decision }, "a review was decided");
    return isApproved ? review : rejected;
  }

  #exceptionFor(
    { scanner, textHash }: StoredReview,
    { reason, created, createdBy }: Pick<StoredException, "reason" | "created" | "createdBy">,
  ): StoredException {
    const expires = new Date(Date.parse(created) + this.#options.lifetimes.approval).toISOString();
    const exception = { scanners: [scanner], textHash, reason, expires };
    return { ...exception, id: idOf(exception), created, createdBy };
  }
}

/** Returns the id of a review: equal texts of a scanner have equal ids. */
function reviewId(key: Uint8Array, { scanner, text }: ReviewRequest): string {
  const hash = createHmac("sha256", key).update(`review\0${scanner}\0`).update(text.trim(), "utf16le");
  return `rv-${hash.digest("hex").slice(0, 24)}`;
}

/** A review as the audit log has it, without the text. */
function described({ id, scanner, source, probability, textHash }: StoredReview): Record<string, unknown> {
  return { id, scanner, source, probability, text_hash: textHash };
}

function unavailable(): GuardError {
  return new GuardError("GUARD_UNAVAILABLE", "Redis does not respond, so the reviews are unknown.");
}
