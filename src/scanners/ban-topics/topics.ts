import pLimit from "p-limit";
import type { CallContext } from "../../models/call-context.ts";
import { EmbeddingHead } from "../../models/embedding-head.ts";
import { EntailmentHead } from "../../models/entailment-head.ts";
import type { PartLabels } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { readComparison, visitCosines } from "../../models/similarity.ts";
import type { TextModel } from "../../models/text-model.ts";
import { GuardValidationError } from "../../support/errors.ts";

/** How many topics or parts of a text are scored concurrently. Without a limit, one long list would fill the queue of a model. */
const CONCURRENCY = 8;

/** A topic and the phrases that describe it. The topic is as likely as its likeliest phrase. */
export interface Topic {
  name: string;
  phrases: readonly string[];
}

/** Scores topics that no model was trained for. */
export interface TopicScorer {
  score(
    text: string,
    strategy: LongTextStrategy,
    context: CallContext,
  ): Promise<{ parts: PartLabels[]; skipped: number }>;
}

/**
 * Creates a scorer. An embedding model compares the vectors of the topics, which are computed here once, with the vector of each part of a
 * text: it reads a text once, however many topics there are. A model for natural language inference, as llm-guard uses, reads a text once
 * per phrase.
 *
 * This function downloads nothing: a model of the hub must be loaded before.
 *
 * @throws GuardValidationError with the path `model` if the model can do neither, and with the path `matchType` if the model does not
 *   support the strategy.
 */
export async function topicScorer(
  model: TextModel,
  topics: readonly Topic[],
  strategy: LongTextStrategy,
  signal?: AbortSignal,
): Promise<TopicScorer> {
  const { heads } = await model.describe({ signal });
  const isInference = EntailmentHead.isIn(heads) && !heads.some(({ isVector }) => isVector);
  if (!isInference) return embeddingScorer(model, topics, signal);
  if (strategy.startsWith("truncate")) {
    const message = "a model for natural language inference reads parts of a text, not its beginning and end together";
    throw new GuardValidationError([{ path: "matchType", message }]);
  }
  return inferenceScorer(model, topics);
}

async function embeddingScorer(model: TextModel, topics: readonly Topic[], signal?: AbortSignal): Promise<TopicScorer> {
  const meaning = new EmbeddingHead(model);
  await meaning.load(signal);
  const probability = readComparison(model.folder, "topics");
  const limit = pLimit(CONCURRENCY);
  const known = await Promise.all(
    topics.flatMap(({ phrases }, topic) =>
      phrases.map((phrase) =>
        limit(async () => {
          const { parts } = await meaning.vectors(phrase, "full", { signal });
          return { topic, vector: parts[0]?.vector ?? [] };
        }),
      ),
    ),
  );
  const phraseVectors = known.map(({ vector }) => vector);
  return {
    async score(text, strategy, context) {
      const { parts, skipped } = await meaning.vectors(text, strategy, context);
      const nearest = parts.map(() => topics.map(() => -1));
      const visit = (part: number, phrase: number, cosine: number) => {
        const [ofPart, topic] = [nearest[part] as number[], (known[phrase] as { topic: number }).topic];
        // Math.max keeps NaN, so NaN never counts as "far apart".
        ofPart[topic] = Math.max(ofPart[topic] as number, cosine);
      };
      await visitCosines(
        parts.map(({ vector }) => vector),
        phraseVectors,
        visit,
        context,
      );
      const labels = (part: number) =>
        topics.map(({ name }, topic) => ({ label: name, score: probability(nearest[part]?.[topic] ?? Number.NaN) }));
      return { skipped, parts: parts.map(({ start, end }, part) => ({ start, end, labels: labels(part) })) };
    },
  };
}

/** The hypothesis of zero-shot classification in Hugging Face's pipeline, which llm-guard uses. */
const hypothesis = (topic: string) => `This example is ${topic}.`;

function inferenceScorer(model: TextModel, topics: readonly Topic[]): TopicScorer {
  const entailment = new EntailmentHead(model);
  return {
    async score(text, strategy, context) {
      // All topics have the same parts.
      const { parts, skippedChars } = await model.classify(text, { strategy }, context);
      const claims = topics.flatMap(({ phrases }) => phrases.map(hypothesis));
      const limit = pLimit(CONCURRENCY);
      const labelsOf = async (part: string) => {
        const supports = await entailment.scoreClaims(part, claims, context);
        const likelihoods = supports.map((ofClaim) => Math.max(0, ...ofClaim.map(likelihood)));
        let next = 0;
        return topics.map(({ name, phrases }) => {
          const ofTopic = likelihoods.slice(next, next + phrases.length);
          next += phrases.length;
          return { label: name, score: Math.max(...ofTopic) };
        });
      };
      try {
        const scored = parts.map(({ start, end }) =>
          limit(async (): Promise<PartLabels> => ({ start, end, labels: await labelsOf(text.slice(start, end)) })),
        );
        return { skipped: skippedChars, parts: await Promise.all(scored) };
      } finally {
        limit.clearQueue();
      }
    },
  };
}

/** Returns the probability of entailment against contradiction, as zero-shot classification computes it if several topics may apply. */
function likelihood({ entailment, contradiction }: { entailment: number; contradiction: number }): number {
  return contradiction === 0 ? entailment : entailment / (entailment + contradiction);
}
