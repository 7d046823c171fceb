import type { TextInReview } from "../scan/check-result.ts";

/** A text that a person should judge, and the scanner that asks for it. */
export interface ReviewRequest extends TextInReview {
  /** The name of the scanner in the list. */
  scanner: string;
}

/** The review of a text. */
export interface Review {
  id: string;
  /** The name of the scanner in the list. */
  scanner: string;
  /** `pending`: nobody has decided yet. `rejected`: the text is blocked. */
  state: "pending" | "rejected";
  /** When the review is forgotten, in RFC 3339. */
  expires: string;
}

/** Keeps texts until a person has decided about them. */
export interface ReviewDesk {
  /**
   * Asks for reviews.
   *
   * @param credential the name of the caller's credential.
   * @returns a review for each text, undefined in place of one for a text that is too long to be reviewed; or undefined if reviews cannot be
   *   kept now.
   */
  request(
    texts: readonly ReviewRequest[],
    credential: string | undefined,
  ): Promise<readonly (Review | undefined)[] | undefined>;
}
