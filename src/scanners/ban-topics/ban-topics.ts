import { z } from "zod";
import type { CallContext } from "../../models/call-context.ts";
import { withPathPrefix } from "../../support/errors.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import { defineScanner } from "../define-scanner.ts";
import { correctedLabels, type LabelledPart, labelVerdict, probabilityOf } from "../parts/label-verdict.ts";
import {
  engineOptions,
  languageDifference,
  matchTypeOption,
  modelOption,
  readingDifference,
} from "../parts/model-options.ts";
import { deobfuscateOption, scoreViews } from "../parts/scored-text.ts";
import { streamingOf } from "../parts/sentence-streaming.ts";
import { resolveReview, resolveThreshold, reviewOptions, thresholdOption } from "../parts/threshold.ts";
import { languageScorer, onUntrainedLanguageOption, withUntrained } from "../parts/untrained-languages.ts";
import { type TopicScorer, topicScorer } from "./topics.ts";

const phrase = z.string().regex(/\S/, "expected a topic");

const topic = z.union(
  [
    phrase,
    z.strictObject({
      name: phrase.describe("Name of the topic in findings."),
      phrases: z.array(phrase).min(1).describe("Phrases that describe the topic. The likeliest one counts."),
    }),
  ],
  { error: "expected a topic, or one with a name and phrases" },
);

export const BanTopics = defineScanner({
  type: "BanTopics",
  summary: "Blocks texts on certain topics.",
  description:
    "A finding names the topic, its probability and the window or sentence.\n\n" +
    "The embedded model reads a text once, however many topics there are, and the probability of a topic does not depend on the others. " +
    "llm-guard's model reads a text once per topic, and the probabilities of several topics add up to 1.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.6 }, output: { threshold: 0.75 } },
  options: ({ threshold }) => ({
    topics: z
      .array(topic)
      .min(1)
      .describe(
        "Topics, in any words and in any language of the model: politics, adult content, 医疗建议. A wide topic is found more " +
          "reliably by its parts: {name: work, phrases: [salary, leave, meetings]}.",
      ),
    model: modelOption(),
    threshold: thresholdOption(threshold, "A text fails when the probability of one of the topics is above this."),
    ...reviewOptions,
    matchType: matchTypeOption,
    deobfuscate: deobfuscateOption,
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  conversation: { window: true },
  differences: [
    {
      text: "The probability of a topic does not depend on the other topics. In llm-guard the probabilities of several topics add up to 1, so a threshold for several topics has to be chosen anew.",
    },
    readingDifference,
    languageDifference,
  ],
  findings: [{ type: "topic", label: "The topic, or its `name`." }],
  examples: {
    options: { topics: ["politics"] },
    passes: ["Could you recommend a recipe for apple pie?"],
    fails: ["Who should win the presidential election, the Democrats or the Republicans?"],
  },
  create(build) {
    const { model: name, modelMaxLength: maxLength, topics, matchType, deobfuscate } = build.options;
    const { onUntrainedLanguage: treatment } = build.options;
    const model = withPathPrefix("model", () => build.engine.model(name, { maxLength }));
    const threshold = resolveThreshold(build, model.folder);
    const { type, engine } = build;
    const languages = languageScorer({ type, engine, model, head: "meaning", treatment });
    const named = topics.map((topic) => (typeof topic === "string" ? { name: topic, phrases: [topic] } : topic));
    /** Holds the vectors of the topics, which are computed once for all texts. */
    let pending: Promise<TopicScorer> | undefined;
    /** Returns the scorer. An aborted call does not stop its creation, because other calls may wait for it. After a failure, the next call tries again. */
    const loadScorer = ({ signal }: CallContext): Promise<TopicScorer> => {
      if (!pending) {
        const created = topicScorer(model, named, matchType);
        pending = created;
        created.catch(() => {
          if (pending === created) pending = undefined;
        });
      }
      return awaitUnlessAborted(pending, signal);
    };
    const streaming = streamingOf(matchType);
    return {
      ...resolveReview(build, model.folder, threshold),
      ...(streaming ? { streaming } : {}),
      async load(signal) {
        await model.load(signal);
        await loadScorer({ signal });
        await languages.load();
      },
      close: () => model.close(),
      async check(text, context) {
        const scorer = await loadScorer(context);
        const scoreParts = async (part: string) => {
          const { parts, skipped } = await scorer.score(part, matchType, context);
          return {
            skipped,
            parts: parts.map((part): LabelledPart => ({ ...part, score: probabilityOf(part.labels, true) })),
          };
        };
        const scoreView = (view: string) => languages.score(view, scoreParts, correctedLabels, context);
        const scored = await scoreViews<LabelledPart>(text, { matchType, deobfuscate }, scoreView, context);
        const verdict = labelVerdict(text, scored, { threshold, multiLabel: true, type: "topic" });
        return withUntrained(text, verdict, scored.untrained, treatment);
      },
    };
  },
});
