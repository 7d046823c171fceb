import { createSecretKey } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { z } from "zod";
import type { Config } from "../../config/index.ts";
import { assertReviewing } from "../../http-server/callers/rights.ts";
import { Problem } from "../../http-server/problem.ts";
import { assertExceptionsKey } from "../exceptions/create-store.ts";
import { authProblems, bodyProblems, type ProblemReplies } from "../http/problem-replies.ts";
import type { RedisLinks } from "../redis/redis-link.ts";
import { jsonReply } from "../routes/replies.ts";
import { named, namedSchemas } from "../schemas/named.ts";
import { reviewDecision, reviewDecisionExample, reviewExample, reviewList, reviewReply } from "../schemas/reviews.ts";
import { RedisReviews } from "./redis-store.ts";
import type { ReviewStore, StoredReview } from "./review-store.ts";
import type { Reviews } from "./reviews.ts";

/** The number of reviews in a reply. Their texts may be long. */
const MAX_LISTED = 100;

const problems: ProblemReplies = {
  ...authProblems,
  403: {
    description: "The credential may not decide about reviews",
    example: new Problem(403, "This credential may not decide about reviews."),
  },
  503: {
    description: "The store does not respond",
    example: new Problem(503, "Redis does not respond, so the reviews are unknown."),
  },
};

const decisionProblems: ProblemReplies = {
  ...problems,
  ...bodyProblems,
  404: { description: "Unknown id", example: new Problem(404, "There is no such review.") },
  422: {
    description: "Invalid fields",
    example: new Problem(422, "The body has the wrong shape.", {
      errors: [{ pointer: "/decision", detail: "must be equal to one of the allowed values" }],
    }),
  },
};

const onRequest = async ({ rights }: FastifyRequest) => assertReviewing(rights);

/** `GET /reviews` and `POST /reviews/ID`: lists the texts that a person should judge, and decides about them. */
export const reviewsPlugin = fp(async (app: FastifyInstance, { reviews }: { reviews: Reviews }) => {
  for (const schema of namedSchemas({ ReviewDecision: reviewDecision }, "input")) app.addSchema(schema);
  const replies = { Review: reviewReply, ReviewList: reviewList };
  for (const schema of namedSchemas(replies, "output")) app.addSchema(schema);

  app.get("/reviews", {
    config: { problems },
    schema: {
      tags: ["Reviews"],
      operationId: "list_reviews",
      summary: "List the texts that a person should judge",
      response: jsonReply("ReviewList", { kept: "redis", pending: 1, reviews: [reviewExample] }),
    },
    onRequest,
    handler: async () => {
      const all = await reviews.list();
      const pending = all.filter(({ rejection }) => !rejection);
      const rejected = all.filter(({ rejection }) => rejection);
      const listed = [...pending, ...rejected].slice(0, MAX_LISTED).map(listedReview);
      return { kept: reviews.kind, pending: pending.length, reviews: listed };
    },
  });

  app.post<{ Params: { id: string } }>("/reviews/:id", {
    config: { problems: decisionProblems, requestExample: reviewDecisionExample },
    schema: {
      tags: ["Reviews"],
      operationId: "decide_review",
      summary: "Approve or reject a text",
      params: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      body: named("ReviewDecision"),
      response: { 204: { description: "Decided", type: "null" } },
    },
    onRequest,
    handler: async (request, reply) => {
      const { decision, reason } = request.body as z.output<typeof reviewDecision>;
      const credential = request.credential?.name ?? null;
      await reviews.decide(request.params.id, { decision, reason: reason.trim(), credential, request: request.id });
      return reply.code(204).send();
    },
  });
});

function listedReview({ textHash: _, rejection, ...review }: StoredReview): z.input<typeof reviewReply> {
  if (!rejection) return { ...review, state: "pending" };
  const { decided, decidedBy, reason } = rejection;
  return { ...review, state: "rejected", decided, decided_by: decidedBy, reason };
}

/**
 * Creates the store of the reviews.
 *
 * @param memory the store without Redis.
 * @throws GuardValidationError if reviews are kept in Redis, but the environment has no key.
 */
export async function createReviewStore(
  settings: Config["reviews"],
  memory: ReviewStore,
  links: RedisLinks,
  { key, hasKey }: { key: Uint8Array; hasKey: boolean },
): Promise<ReviewStore> {
  if (!settings.redis) return memory;
  assertExceptionsKey("reviews.redis", hasKey);
  const link = await links.link("reviews", settings.redis);
  return link ? new RedisReviews(link, createSecretKey(key)) : memory;
}
