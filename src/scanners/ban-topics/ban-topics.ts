import { z } from "zod";
import { withPathPrefix } from "../../support/errors.ts";
import { awaitUnlessAborted } from "../../support/promises.ts";
import { defineScanner } from "../definition.ts";
import { deobfuscateOption, scoreDisguised } from "../parts/disguises.ts";
import { languageJudge, onUntrainedLanguageOption, withUntrained } from "../parts/foreign-languages.ts";
import { correctedLabels, type LabelledPart, labelVerdict, probabilityOf } from "../parts/label-verdict.ts";
import { engineOptions, matchTypeOption, modelOption, ofLanguages, ofReading } from "../parts/model-options.ts";
import { streamingOf } from "../parts/sentence-streaming.ts";
import { resolveThreshold, thresholdOption } from "../parts/threshold.ts";
import { type TopicJudge, topicJudge } from "./topics.ts";

const phrase = z.string().regex(/\S/, "expected a topic");

const topic = z.union(
  [
    phrase,
    z.strictObject({
      name: phrase.describe("What findings call the topic."),
      phrases: z.array(phrase).min(1).describe("What it is made of, in any words; the likeliest of them counts."),
    }),
  ],
  { error: "expected a topic, or one with a name and phrases" },
);

export const BanTopics = defineScanner({
  type: "BanTopics",
  summary: "Blocks texts on certain topics.",
  description:
    "A finding names the topic, its probability and the window or sentence.\n\n" +
    "The embedded model costs one pass however many topics there are, and the probabilities of topics do not depend on each other; " +
    "llm-guard's takes a pass for each, and the probabilities of two topics or more add up to one.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.6 }, output: { threshold: 0.75 } },
  options: ({ threshold }) => ({
    topics: z
      .array(topic)
      .min(1)
      .describe(
        "Topics, in any words and in any language of the model: politics, adult content, 医疗建议. A wide one is found better by " +
          "what it is made of: {name: work, phrases: [salary, leave, meetings]}.",
      ),
    model: modelOption(),
    threshold: thresholdOption(threshold, "A text fails when the probability of one of the topics is above this."),
    matchType: matchTypeOption,
    deobfuscate: deobfuscateOption,
    onUntrainedLanguage: onUntrainedLanguageOption,
    ...engineOptions(),
  }),
  conversation: { window: true },
  differences: [
    {
      text: "The probability of a topic does not depend on the other topics; in llm-guard two or more add up to one. A threshold for several topics has to be fitted anew.",
    },
    ofReading,
    ofLanguages,
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
    const byLanguage = languageJudge({ type, engine, model, head: "meaning", treatment });
    const named = topics.map((topic) => (typeof topic === "string" ? { name: topic, phrases: [topic] } : topic));
    /** The judge holds the vectors of the topics. They are computed once and serve all texts. */
    let judging: Promise<TopicJudge> | undefined;
    /**
     * Returns the judge. When a call is aborted, the judge is still made for the other calls that wait for it. After a failure, the
     * next call tries again.
     */
    const judge = (signal?: AbortSignal): Promise<TopicJudge> => {
      if (!judging) {
        const made = topicJudge(model, named, matchType);
        judging = made;
        made.catch(() => {
          if (judging === made) judging = undefined;
        });
      }
      return awaitUnlessAborted(judging, signal);
    };
    const streaming = streamingOf(matchType);
    return {
      ...(streaming ? { streaming } : {}),
      asks: () => ({ model, head: "meaning" }),
      async load(signal) {
        await model.load(signal);
        await judge(signal);
        await byLanguage.load();
      },
      close: () => model.close(),
      async check(text, { signal, answers }) {
        const topics = await judge(signal);
        const score = async (view: string) => {
          const { parts, skipped } = await topics.score(view, matchType, signal, answers);
          return {
            skipped,
            parts: parts.map((part): LabelledPart => ({ ...part, score: probabilityOf(part.labels, true) })),
          };
        };
        const judged = (view: string) => byLanguage.judge(view, score, correctedLabels, answers, signal);
        const scored = await scoreDisguised<LabelledPart>(text, { matchType, deobfuscate }, judged, answers, signal);
        const verdict = labelVerdict(text, scored, { threshold, multiLabel: true, type: "topic" });
        return withUntrained(text, verdict, scored.untrained, treatment);
      },
    };
  },
});
