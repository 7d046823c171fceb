import type { ReviewRequest } from "../../service/review-desk.ts";

/** The number of texts that wait for a decision. The oldest make room for new ones. */
export const MAX_PENDING = 1000;

/** A text that waits for a decision, or was rejected. */
export interface StoredReview extends ReviewRequest {
  readonly id: string;
  /** The keyed hash of the text, as in exceptions. */
  readonly textHash: string;
  /** The credential whose request had the text first. Null without authentication. */
  readonly credential: string | null;
  readonly requested: string;
  readonly expires: string;
  readonly rejection?: Rejection | undefined;
}

/** Who rejected a text, when and why. */
export interface Rejection {
  readonly decided: string;
  readonly decidedBy: string | null;
  readonly reason: string;
}

/** The result of {@link ReviewStore.open}. */
export interface OpenedReview {
  /** The review as it is kept. */
  review: StoredReview;
  isNew: boolean;
  /** The number of older reviews that were dropped. */
  dropped: number;
}

/** Where reviews are kept. Methods return undefined if the store does not respond. */
export interface ReviewStore {
  readonly kind: "memory" | "redis";
  /** Keeps a review, unless there is one with its id. */
  open(review: StoredReview): Promise<OpenedReview | undefined>;
  /** Returns the reviews that have not expired. */
  list(): Promise<readonly StoredReview[] | undefined>;
  /** Replaces a review by a rejected one. */
  reject(review: StoredReview): Promise<true | undefined>;
  remove(id: string): Promise<true | undefined>;
  /** The number of pending reviews. */
  count(): Promise<number | undefined>;
}

/** The reviews in the memory of a process. They are lost when it ends. */
export class MemoryReviews implements ReviewStore {
  readonly kind = "memory";
  /** The oldest first. */
  readonly #byId = new Map<string, StoredReview>();

  async open(review: StoredReview): Promise<OpenedReview> {
    this.#forgetExpired();
    const known = this.#byId.get(review.id);
    if (known) return { review: known, isNew: false, dropped: 0 };
    this.#byId.set(review.id, review);
    const pending = this.#pending();
    const dropped = pending.slice(0, Math.max(0, pending.length - MAX_PENDING));
    for (const { id } of dropped) this.#byId.delete(id);
    return { review, isNew: true, dropped: dropped.length };
  }

  async list(): Promise<readonly StoredReview[]> {
    this.#forgetExpired();
    return [...this.#byId.values()];
  }

  async reject(review: StoredReview): Promise<true> {
    this.#byId.set(review.id, review);
    return true;
  }

  async remove(id: string): Promise<true> {
    this.#byId.delete(id);
    return true;
  }

  async count(): Promise<number> {
    this.#forgetExpired();
    return this.#pending().length;
  }

  #pending(): StoredReview[] {
    return [...this.#byId.values()].filter(({ rejection }) => !rejection);
  }

  #forgetExpired(): void {
    const now = Date.now();
    for (const [id, { expires }] of this.#byId) if (Date.parse(expires) <= now) this.#byId.delete(id);
  }
}
