import pLimit from "p-limit";
import { GuardValidationError } from "../../errors.ts";
import type { AnswerCache } from "../../models/answer-cache.ts";
import { comparisonOf, eachCosine } from "../../models/comparing.ts";
import { EntailmentHead } from "../../models/entailment.ts";
import type { PartLabels } from "../../models/label-head.ts";
import { MeaningHead } from "../../models/meaning.ts";
import type { Reading } from "../../models/reading.ts";
import type { TextModel } from "../../models/text-model.ts";

/** Topics or parts of a text that are asked for at a time: a long list must not fill a model's queue all by itself. */
const PARALLEL = 8;

/** A topic by its name, and the phrases that it is made of: it is as likely as the likeliest of them. */
export interface Topic {
  name: string;
  phrases: readonly string[];
}

/** Tells the probabilities of topics that nobody has learnt beforehand. */
export interface TopicJudge {
  score(
    text: string,
    reading: Reading,
    signal?: AbortSignal,
    answers?: AnswerCache,
  ): Promise<{ parts: PartLabels[]; skipped: number }>;
}

/**
 * How a model tells topics. One that gives vectors compares those of the topics, which are computed here once, with that of each
 * part of a text: one pass however many topics. One for inference, as llm-guard's are, takes a pass for each phrase.
 *
 * Downloads nothing: a model of the hub must have been loaded before.
 *
 * @param reading how texts will be read.
 * @throws GuardValidationError with the path `model` where it can do neither, and `matchType` where it cannot read texts so.
 */
export async function topicJudge(
  model: TextModel,
  topics: readonly Topic[],
  reading: Reading,
  signal?: AbortSignal,
): Promise<TopicJudge> {
  const { heads } = await model.described(signal);
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
          const { parts } = await meaning.vectors(phrase, "full", signal);
          return { topic, vector: parts[0]?.vector ?? [] };
        }),
      ),
    ),
  );
  const phraseVectors = known.map(({ vector }) => vector);
  return {
    async score(text, reading, signal, answers) {
      const { parts, skipped } = await meaning.vectors(text, reading, signal, answers);
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
        signal,
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
      // What is read is the same for all topics: which parts there are is asked once.
      const { parts, skippedChars } = await model.classify(text, reading, signal, answers);
      const claims = topics.flatMap(({ phrases }) => phrases.map(hypothesis));
      const limit = pLimit(PARALLEL);
      const ofPart = async (part: string) => {
        const supports = await entailment.judge(part, claims, signal, answers);
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

/** Of entailment against contradiction, as in zero-shot classification where several topics may be right. */
function likelihood({ entailment, contradiction }: { entailment: number; contradiction: number }): number {
  return contradiction === 0 ? entailment : entailment / (entailment + contradiction);
}
