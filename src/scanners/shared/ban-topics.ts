import { z } from "zod";
import { madeFrom } from "../../errors.ts";
import { Classifier } from "../../models/model.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type ScanContext, type Verdict } from "../../scanner.ts";
import { resolveThreshold, thresholdOption } from "../../threshold.ts";
import { withSignal } from "../../with-signal.ts";
import { deobfuscateOption, scoreDisguised } from "./disguises.ts";
import { type LabelledPart, labelVerdict, probabilityOf } from "./label-verdict.ts";
import { engineOptions, matchTypeOption, modelOption } from "./model-options.ts";
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

/** The options of BanTopics. */
export function banTopicsOptions(threshold: number) {
  return {
    ...commonOptions,
    topics: z
      .array(topic)
      .min(1)
      .describe(
        "Topics, in any words and in any language of the model: politics, adult content, 医疗建议. A wide one is found better by " +
          "what it is made of: {name: work, phrases: [salary, leave, meetings]}.",
      ),
    model: modelOption,
    threshold: thresholdOption(threshold, "A text fails when the probability of one of the topics is above this."),
    matchType: matchTypeOption,
    deobfuscate: deobfuscateOption,
    ...engineOptions(),
  };
}

type BanTopicsSchema = z.ZodObject<ReturnType<typeof banTopicsOptions>>;

/** Both sides of BanTopics: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class BanTopicsBase<Schema extends BanTopicsSchema> extends BaseScanner<Schema> {
  readonly sanitizes = false;
  readonly #model: Classifier;
  readonly #threshold: number;
  /** The topics' vectors are in it: computed once, for all texts. */
  #judge: Promise<TopicJudge> | undefined;

  protected constructor(schema: Schema, options: z.input<Schema>) {
    super("BanTopics", schema, options);
    const checked = this.options as z.output<BanTopicsSchema>;
    this.#model = madeFrom("model", () => new Classifier(checked.model, checked.modelMaxLength));
    this.#threshold = resolveThreshold("BanTopics", checked, this.#model.folder);
  }

  /** Loads the model and reads the topics. */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    await this.#topics(signal);
  }

  async close(): Promise<void> {
    await this.#model.close();
  }

  protected async check(text: string, { signal, passes }: ScanContext): Promise<Verdict> {
    const options = this.options as z.output<BanTopicsSchema>;
    const judge = await this.#topics(signal);
    const scored = await scoreDisguised<LabelledPart>(text, options, async (reading) => {
      const { parts, skipped } = await judge.score(reading, options.matchType, signal, passes);
      return { skipped, parts: parts.map((part) => ({ ...part, score: probabilityOf(part.labels, true) })) };
    });
    return labelVerdict(text, scored, { threshold: this.#threshold, multiLabel: true, type: "topic" });
  }

  /** A call that is aborted leaves the topics to the others that wait for them; a failure is tried again by the next call. */
  #topics(signal?: AbortSignal): Promise<TopicJudge> {
    if (!this.#judge) {
      const { topics, matchType } = this.options as z.output<BanTopicsSchema>;
      const named = topics.map((topic) => (typeof topic === "string" ? { name: topic, phrases: [topic] } : topic));
      const judge = topicJudge(this.#model, named, matchType);
      this.#judge = judge;
      judge.catch(() => {
        if (this.#judge === judge) this.#judge = undefined;
      });
    }
    return withSignal(this.#judge, signal);
  }
}
