import { z } from "zod";
import { LONG_TEXT_STRATEGIES } from "../../models/long-text-strategy.ts";
import { MODEL_DESCRIPTION } from "../../models/model-files.ts";
import { llmGuardOption, withoutInfluence } from "../../support/options.ts";
import type { Difference } from "../difference.ts";
import { modelPathOptions } from "./model-path.ts";

/** The model of HarmfulContent and Toxicity. It shares its lowest layers with embedded:prompt-injection. */
export const MODERATION = "embedded:moderation";

/** The model that guard's own classifiers share. One run of the model over a text serves all of them. */
export const MULTITASK = "embedded:multitask";

/**
 * Creates the option that names a model of the engine.
 *
 * @param name the default of the option.
 */
export const modelOption = (name = MULTITASK) =>
  withoutInfluence(z.string().min(1).default(name).describe(MODEL_DESCRIPTION));

/**
 * Creates the option that names a classifier: a linear model, or a model of the engine.
 *
 * @param name the default of the option, a linear model.
 * @param what what the classifier tells apart, and its labels, for the documentation.
 */
export const classifierOption = (name: string, what: string) =>
  withoutInfluence(
    z
      .string()
      .min(1)
      .default(name)
      .describe(
        `A classifier of ${what}. ${MODEL_DESCRIPTION} A folder may also have the model.bin of a linear model.`,
      ),
  );

/** The option for texts that are longer than the model's input. */
export const matchTypeOption = z
  .enum(LONG_TEXT_STRATEGIES)
  .default("windows")
  .describe(
    "windows: the whole text, in overlapping pieces if it is longer than the model's input. full: its beginning. sentence: each " +
      "sentence. truncate_token_head_tail, truncate_head_tail: beginning and end. chunks: pieces of 256 characters. The worst piece decides.",
  );

/** The options that replace the embedded model. */
const MODEL_OPTIONS = ["model", "modelPath"];

/** How thresholds of embedded models differ from llm-guard's. */
export const thresholdDifference: Difference = {
  with: ["threshold"],
  without: MODEL_OPTIONS,
  text:
    "A threshold from llm-guard was chosen for its model. The embedded model has other probabilities: remove the threshold, or " +
    "calibrate it with your own texts (`guard-scan calibrate`).",
};

/** How scanners with a neural model read texts differently from llm-guard. */
export const readingDifference: Difference = {
  without: ["matchType"],
  text: "The whole text is read, in windows. llm-guard reads its beginning only, which is `match_type: full` here.",
};

/** How scanners whose model was trained in some languages differ from llm-guard's. */
export const languageDifference: Difference = {
  without: [...MODEL_OPTIONS, "onUntrainedLanguage"],
  text:
    "In a language that the model was not trained in, its probability is corrected by measurements in that language, or the text is " +
    "skipped, and the coverage says so. llm-guard uses the probability uncorrected, which is `on_untrained_language: raw` here.",
};

/** How scanners with a linear model differ from llm-guard's neural models. */
export const linearModelDifference: Difference = {
  without: MODEL_OPTIONS,
  text: "The embedded model is linear: it needs no neural network, and reads texts of any length.",
};

/** Creates an option without effect. It is no setting for which curves are valid. */
const withoutEffect = <Schema extends z.ZodType>(schema: Schema) => schema.optional().transform(() => undefined);

/** Creates an option of llm-guard's files that does nothing here. The log warns if a file contains it. */
const ignored = (schema: z.ZodType, why: string) =>
  withoutInfluence(llmGuardOption(withoutEffect(schema), `; it does nothing here: ${why}.`)).meta({ ignored: why });

const keywords = z.record(z.string(), z.unknown()).nullable();

/** Options of PyTorch and transformers in llm-guard's files, which guard does not use. */
const torchOptions = {
  modelBatchSize: ignored(
    z.number().int().min(1),
    "texts and windows that wait at the same time are batched automatically",
  ),
  lowCpuMemUsage: ignored(z.boolean(), "scanners that use the same model share one copy of it in memory"),
  torchDtype: ignored(z.string(), "the ONNX file determines the precision"),
  device: ignored(z.union([z.string(), z.number()]), "GUARD_ONNX_PROVIDERS chooses the device for all models"),
  kwargs: ignored(keywords, "they are arguments of transformers for loading a model"),
  tokenizerKwargs: ignored(keywords, "tokenizer.json configures the tokenizer"),
  pipelineKwargs: ignored(keywords, "they are arguments of transformers; use model_max_length for a shorter input"),
};

/**
 * The options that llm-guard's API accepts for every model, for scanners with a model of the engine.
 *
 * @param option the option that names the model.
 */
export const engineOptions = (option = "model") => ({
  modelMaxLength: z
    .number()
    .int()
    .min(3)
    .optional()
    .describe("The longest input in tokens, if it should be shorter than the model's own limit."),
  ...torchOptions,
  ...modelPathOptions(option),
  useOnnx: withoutInfluence(llmGuardOption(z.boolean().optional(), "; here models always run on ONNX Runtime.")),
});

/**
 * The options that llm-guard's API accepts for every model, for scanners whose model may be linear. A linear model reads texts of any
 * length, so the length is no setting for which its curve is valid.
 */
export const classifierOptions = {
  ...engineOptions(),
  modelMaxLength: withoutInfluence(
    z
      .number()
      .int()
      .min(3)
      .optional()
      .describe(
        "The longest input in tokens, if it should be shorter than the model's own limit. A linear model reads the whole text.",
      ),
  ),
};
