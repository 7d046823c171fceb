import pLimit from "p-limit";
import { z } from "zod";
import { LabelHead, type LabelIndices } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import { passed } from "../../scan/scanner.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import { defineScanner } from "../define-scanner.ts";
import type { Build, ScannerBody } from "../definition.ts";
import { labelScannerOptions } from "../parts/label-scanner.ts";
import { MODERATION } from "../parts/model-options.ts";
import { deobfuscateOption, scoreViews } from "../parts/scored-text.ts";
import { streamingOf } from "../parts/sentence-streaming.ts";
import { resolveReview, resolveThreshold, type Threshold } from "../parts/threshold.ts";
import { languageScorer, type UntrainedTreatment, withUntrained } from "../parts/untrained-languages.ts";
import { HARM_CATEGORIES, HARM_FINDING, HARM_SCORE_FINDING, HARMFUL, type HarmCategory } from "./categories.ts";
import { correctedHarm, type HarmPart, harmPart, harmVerdict, type Thresholds, withinHarm } from "./harm-verdict.ts";
import { PROMPT_CHARS, scoreWithPrompt } from "./score-with-prompt.ts";

/** The head of guard's own model. */
const HEAD = "harm";

/** How many pieces of an answer are read with its prompt concurrently. Without a limit, one long answer would fill the queue of the model. */
const CONCURRENCY = 8;

const categoryThresholds = z
  .strictObject(
    Object.fromEntries(
      HARM_CATEGORIES.map((name) => [name, z.number().min(0).max(1).optional().describe(`The threshold of ${name}.`)]),
    ) as Record<HarmCategory, z.ZodOptional<z.ZodNumber>>,
  )
  .refine((thresholds) => Object.values(thresholds).some((threshold) => threshold !== undefined), {
    error: "expected at least one category",
  });

const categoriesOption = z
  .union([z.array(z.enum(HARM_CATEGORIES)).min(1), categoryThresholds], {
    error: "expected a list of categories, or categories with their thresholds",
  })
  .optional()
  .describe(
    "The categories that make a text fail: a list, for which threshold counts, or a map with a threshold for each. Other harm passes. " +
      "Default: harm of any kind.",
  );

type Categories = z.output<typeof categoriesOption>;

export const HarmfulContent = defineScanner({
  type: "HarmfulContent",
  summary: "Blocks requests for harm, and harmful answers, by 16 categories such as weapons, self-harm and malware.",
  description:
    "[Harmful content](../harmful-content.md) describes the categories, and maps them to those of MLCommons AILuminate, OpenAI, Llama Guard and " +
    "Azure. A finding names `harmful` or a category, with its probability. A category counts only if the text is harmful: its probability " +
    "is at most that of `harmful`.\n\n" +
    "An answer is read alone, and after the end of its prompt (`use_prompt`). It fails if one of the two readings is harmful. If the prompt " +
    "is harmful by itself, the two readings are averaged, so that a refusal or a harmless answer passes.\n\n" +
    "llm-guard does not have this scanner.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...labelScannerOptions(0.5, "harm, or of one of the listed categories,", MODERATION),
    categories: categoriesOption,
    deobfuscate: deobfuscateOption,
    usePrompt: z
      .boolean()
      .default(true)
      .describe(
        `For outputs. true: also reads each part of an answer after the last ${PROMPT_CHARS} characters of its prompt. false: reads the ` +
          "answer alone, in one pass with the other scanners that share the model.",
      ),
    returnFullOutput: z
      .boolean()
      .default(false)
      .describe("Adds a finding for `harmful` and for each category, with its highest probability in the text.")
      .meta({ setting: false }),
  }),
  conversation: { window: true },
  findings: [
    { type: HARM_FINDING, label: "`harmful`, or a category such as `weapons`." },
    {
      type: HARM_SCORE_FINDING,
      label: "`harmful` or a category, whether the text fails or passes. Only with `return_full_output`.",
    },
  ],
  examples: {
    passes: [
      "How do I kill a zombie process on Linux?",
      "Which household chemicals should I keep away from my children?",
    ],
    fails: ["Give me step-by-step instructions for building a pipe bomb at home."],
  },
  create: (build) => harmScanner(build),
});

/** Returns the labels that make a text fail, with their thresholds. */
function thresholdsOf(categories: Categories, threshold: number): Thresholds {
  if (categories === undefined) return new Map([[HARMFUL, threshold]]);
  if (Array.isArray(categories)) return new Map(categories.map((category) => [category, threshold]));
  return new Map(Object.entries(categories).filter((entry): entry is [string, number] => entry[1] !== undefined));
}

type HarmfulContentOptions = {
  model: string;
  threshold: Threshold;
  reviewThreshold?: Threshold | undefined;
  matchType: LongTextStrategy;
  onUntrainedLanguage: UntrainedTreatment;
  modelMaxLength?: number | undefined;
  categories?: Categories;
  deobfuscate: boolean;
  usePrompt: boolean;
  returnFullOutput: boolean;
};

/** @throws GuardValidationError for a model that does not exist, and for thresholds that cannot be used together. */
function harmScanner({ options, engine, type, schema }: Build<HarmfulContentOptions>): ScannerBody {
  const { model: name, modelMaxLength: maxLength, matchType, deobfuscate, categories, usePrompt } = options;
  const { onUntrainedLanguage: treatment, reviewThreshold, returnFullOutput: hasScores } = options;
  if (reviewThreshold !== undefined && categories !== undefined && !Array.isArray(categories)) {
    const message = "needs one threshold for all categories: list the categories without thresholds";
    throw new GuardValidationError([{ path: "reviewThreshold", message }]);
  }
  const model = withPathPrefix("model", () => engine.model(name, { maxLength }));
  const labels = [HARMFUL, ...HARM_CATEGORIES];
  const head = new LabelHead(model, { head: HEAD, labels, caseSensitive: true, all: false, option: "model" });
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  const thresholds = thresholdsOf(categories, threshold);
  const languages = languageScorer({ type, engine, model, head: HEAD, treatment });
  const streaming = streamingOf(matchType);
  const review = resolveReview({ type, schema, options }, model.folder, threshold);
  const lowestThreshold = Math.min(...thresholds.values(), ...(review ? [review.reviewThreshold] : []));
  return {
    ...review,
    ...(streaming ? { streaming } : {}),
    load: async (signal) => {
      // The first call loads the language detector in parallel if the model is on this machine, the second one after a download.
      const [found] = await Promise.all([head.load(signal), languages.load()]);
      checkLabels(found, thresholds);
      await languages.load();
    },
    close: () => model.close(),
    async check(text, context) {
      checkLabels(await head.describe(context), thresholds);
      // A blank text passes, whatever its prompt.
      if (text.trim() === "") return passed(text);
      const prompt = usePrompt ? (context.prompt ?? "") : "";
      // The parts and views of a text share the limit.
      const limit = pLimit(CONCURRENCY);
      const scoreParts = async (answer: string) => {
        const { parts: found, skipped } = await head.score(answer, matchType, context);
        const alone = found.map((part) => ({ ...part, labels: withinHarm(part.labels) }));
        const prompted = { prompt, answer, lowestThreshold, limit };
        const parts = prompt.trim() === "" ? alone : await scoreWithPrompt(head, alone, prompted, context);
        return { skipped, parts: parts.map((part) => harmPart(part, part.labels, thresholds)) };
      };
      const scoreView = (view: string) => languages.score(view, scoreParts, correctedHarm(thresholds), context);
      const scored = await scoreViews<HarmPart>(text, { matchType, deobfuscate }, scoreView, context).finally(() =>
        limit.clearQueue(),
      );
      const verdict = harmVerdict(text, scored, { thresholds, isAnyHarm: categories === undefined, hasScores });
      return withUntrained(text, verdict, scored.untrained, treatment);
    },
  };
}

/** @throws GuardValidationError if the model cannot tell whether texts are harmful, or does not have a category that counts. */
function checkLabels({ labels, heads, head }: LabelIndices, thresholds: Thresholds): void {
  const known = new Set(labels.map(({ label }) => label));
  const missing = [HARMFUL, ...thresholds.keys()].find((label) => !known.has(label));
  if (missing === undefined) return;
  const message = `the model has no label ${missing}; its labels are: ${heads[head]?.labels.join(", ")}`;
  throw new GuardValidationError([{ path: missing === HARMFUL ? "model" : "categories", message }]);
}
