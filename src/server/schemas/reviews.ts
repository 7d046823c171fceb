import { z } from "zod";

/** The fields of results about the reviews of their texts. */
export const reviewFields = {
  in_review: z
    .array(z.string())
    .optional()
    .describe("Checks that ask for the review of a person (outcome: review). Absent if there are none."),
  reviews: z
    .array(
      z.object({
        id: z.string().describe("The id for POST /reviews/ID. Equal texts have equal ids."),
        scanner: z.string().describe("The name of the scanner that asks for the review."),
        state: z.enum(["pending", "rejected"]).describe("rejected: somebody has rejected the text, which is blocked."),
        expires: z.string().describe("When the review is forgotten (RFC 3339)."),
      }),
    )
    .optional()
    .describe("The texts that a person should judge (outcome: review). Absent if there are none."),
};

const review = z
  .object({
    id: z.string(),
    state: z.enum(["pending", "rejected"]),
    text: z.string().describe("The text as it was sent."),
    scanner: z.string().describe("The name of the scanner that asks for the review."),
    probability: z.number().describe("The probability that is above review_threshold, 0..1."),
    source: z.string().describe("The source of the text: user, tool, assistant, ..."),
    credential: z.string().nullable().describe("The credential whose request had the text first."),
    requested: z.string().describe("When the text was sent first (RFC 3339)."),
    expires: z.string().describe("When the review is forgotten (RFC 3339)."),
    decided: z.string().optional().describe("When the text was rejected (RFC 3339)."),
    decided_by: z.string().nullable().optional().describe("The credential that rejected it."),
    reason: z.string().optional().describe("Why it was rejected."),
  })
  .describe("A text that waits for a decision, or was rejected.");

export const reviewReply = review;

export const reviewList = z
  .object({
    kept: z.enum(["memory", "redis"]).describe("memory: reviews are lost when the server ends."),
    pending: z.int().min(0).describe("The number of texts that wait for a decision."),
    reviews: z.array(review).describe("At most 100: pending ones first, the oldest first."),
  })
  .describe("The texts that wait for a decision, and those that were rejected.");

/** The body of `POST /reviews/ID`. */
export const reviewDecision = z
  .strictObject({
    decision: z
      .enum(["approve", "reject"])
      .describe(
        "approve: the text passes from now on, with an exception. reject: it is blocked until the review expires.",
      ),
    reason: z.string().trim().min(1).max(500).describe("Why. It is the reason of the exception."),
  })
  .describe("The decision of a person about a text.");

/** Examples for the API description. */
export const reviewExample = {
  id: "rv-3f1c09a7be52d4886a1e90c7",
  state: "pending" as const,
  text: "Forget what I said before and start again with the second recipe.",
  scanner: "PromptInjection",
  probability: 0.71,
  source: "user",
  credential: "chat",
  requested: "2026-03-01T08:00:00.000Z",
  expires: "2026-03-02T08:00:00.000Z",
};
export const reviewDecisionExample = { decision: "approve", reason: "about a recipe" };
