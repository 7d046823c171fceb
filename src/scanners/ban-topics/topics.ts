import pLimit from "p-limit";
import type { AnswerCache } from "../../models/call-context.ts";
import { comparisonOf, eachCosine } from "../../models/comparing.ts";
import { EntailmentHead } from "../../models/entailment.ts";
import type { PartLabels } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { MeaningHead } from "../../models/meaning.ts";
import type { TextModel } from "../../models/text-model.ts";
import { GuardValidationError } from "../../support/errors.ts";

/**
 * How many topics or parts of a text are asked about at the same time. The limit keeps one long list from filling the queue of a
 * model.
 */
const PARALLEL = 8;

/** A topic with a name and with the phrases that describe it. The topic is as likely as its likeliest phrase. */
export interface Topic {
  name: string;
  phrases: readonly string[];
}

/** Judges how probable topics are for which no model was trained. */
export interface TopicJudge {
  score(
    text: string,
    reading: LongTextStrategy,
    signal?: AbortSignal,
    answers?: AnswerCache,
  ): Promise<{ parts: PartLabels[]; skipped: number }>;
}

/**
 * Makes a judge of topics from a model. A model that gives vectors compares the vectors of the topics, which are computed here
 * once, with the vector of each part of a text. It runs once per text, however many topics there are. A model for inference, as
 * llm-guard uses, runs once for each phrase.
 *
 * This function downloads nothing: a model of the hub must have been loaded before.
 *
 * @param reading the reading that texts will have.
 * @throws GuardValidationError with the path `model` when the model can do neither, and with the path `matchType` when it cannot
 *   read texts in this way.
 */
export async function topicJudge(
  model: TextModel,
  topics: readonly Topic[],
  reading: LongTextStrategy,
  signal?: AbortSignal,
): Promise<TopicJudge> {
  const { heads } = await model.described({ signal });
  const isInference = EntailmentHead.isIn(heads) && !heads.some(({ isVector }) => isVector);
  if (!isInference) return byMeaning(model, topics, signal);
  if (reading.startsWith("truncate")) {
    const message = "a model for inference judges parts of a text, not its beginning and end together";
    throw new GuardValidationError([{ path: "matchType", message }]);
  }
  return byInference(model, topics);
}

async function byMeaning(model: TextModel, topics: readonly Topic[], signal?: AbortSignal): Promise<TopicJudge> {
  const meaning = new MeaningHead(model);
  await meaning.load(signal);
  const probability = comparisonOf(model.folder, "topics");
  const limit = pLimit(PARALLEL);
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
    async score(text, reading, signal, answers) {
      const { parts, skipped } = await meaning.vectors(text, reading, { signal, answers });
      const nearest = parts.map(() => topics.map(() => -1));
      const visit = (part: number, phrase: number, cosine: number) => {
        const [ofPart, topic] = [nearest[part] as number[], (known[phrase] as { topic: number }).topic];
        // NaN stays NaN, so that it never reads as "far apart".
        ofPart[topic] = Math.max(ofPart[topic] as number, cosine);
      };
      await eachCosine(
        parts.map(({ vector }) => vector),
        phraseVectors,
        visit,
        { signal },
      );
      const labels = (part: number) =>
        topics.map(({ name }, topic) => ({ label: name, score: probability(nearest[part]?.[topic] ?? Number.NaN) }));
      return { skipped, parts: parts.map(({ start, end }, part) => ({ start, end, labels: labels(part) })) };
    },
  };
}

/** The hypothesis of zero-shot classification in Hugging Face's pipeline, which llm-guard uses. */
const hypothesis = (topic: string) => `This example is ${topic}.`;

function byInference(model: TextModel, topics: readonly Topic[]): TopicJudge {
  const entailment = new EntailmentHead(model);
  return {
    async score(text, reading, signal, answers) {
      // The parts are the same for all topics, so they are determined only once.
      const { parts, skippedChars } = await model.classify(text, { strategy: reading }, { signal, answers });
      const claims = topics.flatMap(({ phrases }) => phrases.map(hypothesis));
      const limit = pLimit(PARALLEL);
      const ofPart = async (part: string) => {
        const supports = await entailment.judge(part, claims, { signal, answers });
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
          limit(async (): Promise<PartLabels> => ({ start, end, labels: await ofPart(text.slice(start, end)) })),
        );
        return { skipped: skippedChars, parts: await Promise.all(scored) };
      } finally {
        limit.clearQueue();
      }
    },
  };
}

/**
 * Returns the probability of entailment against contradiction, as zero-shot classification computes it when several topics may
 * apply.
 */
function likelihood({ entailment, contradiction }: { entailment: number; contradiction: number }): number {
  return contradiction === 0 ? entailment : entailment / (entailment + contradiction);
}
