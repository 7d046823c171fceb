import { z } from "zod";
import { LONG_TEXT_STRATEGIES } from "../../models/long-text-strategy.ts";
import { MODEL_DESCRIPTION } from "../../models/model-files.ts";
import { notASetting, ofLlmGuard } from "../../support/options.ts";
import type { Difference } from "../difference.ts";
import { modelPathOptions } from "./model-path.ts";

/** The model that guard's own classifiers share. One run of the model over a text serves all of them. */
export const MULTITASK = "embedded:multitask";

/**
 * Makes the option that names a model of the engine.
 *
 * @param name the default of the option.
 */
export const modelOption = (name = MULTITASK) =>
  notASetting(z.string().min(1).default(name).describe(MODEL_DESCRIPTION));

/**
 * Makes the option that names a classifier, which may be a linear model or one of the engine.
 *
 * @param name the default of the option, a linear model.
 * @param what what it tells apart, and its labels, for the documentation.
 */
export const classifierOption = (name: string, what: string) =>
  notASetting(
    z
      .string()
      .min(1)
      .default(name)
      .describe(
        `A classifier of ${what}. ${MODEL_DESCRIPTION} A folder may also have the model.bin of a linear model.`,
      ),
  );

/** The option that says how a text longer than the model's input is read. */
export const matchTypeOption = z
  .enum(LONG_TEXT_STRATEGIES)
  .default("windows")
  .describe(
    "windows: all of the text, in overlapping pieces where it is longer than the model reads at once. full: its beginning. " +
      "sentence: each sentence. " +
      "truncate_token_head_tail, truncate_head_tail: beginning and end. chunks: pieces of 256 characters. The worst decides.",
  );

/** The options that put another model in the place of the embedded one. */
const MODEL_OPTIONS = ["model", "modelPath"];

/** How the thresholds of all scanners with an embedded model differ from llm-guard's. */
export const thresholdDifference: Difference = {
  with: ["threshold"],
  without: MODEL_OPTIONS,
  text:
    "A threshold from llm-guard was chosen for its model. The embedded model has other probabilities: leave the threshold out, or " +
    "fit it to texts of your own with `guard calibrate`.",
};

/** How scanners with a neural model differ from llm-guard's in what they read. */
export const readingDifference: Difference = {
  without: ["matchType"],
  text: "All of a text is read, in windows; llm-guard reads its beginning only, which is `match_type: full` here.",
};

/** How scanners whose model was trained in some languages only differ from llm-guard's. */
export const languageDifference: Difference = {
  without: [...MODEL_OPTIONS, "onUntrainedLanguage"],
  text:
    "A text in a language that the model was not trained in is judged by what was measured in that language, or left out, and the " +
    "coverage says so. llm-guard takes the model by its word, which is `on_untrained_language: raw` here.",
};

/** How scanners with a linear model differ from llm-guard's, whose models are neural. */
export const linearModelDifference: Difference = {
  without: MODEL_OPTIONS,
  text: "The embedded model is linear: it needs no inference of a neural network, and reads texts of any length.",
};

/** Makes an option that has no effect. It does not even count among the settings for which a curve of thresholds is valid. */
const withoutEffect = <Schema extends z.ZodType>(schema: Schema) => schema.optional().transform(() => undefined);

/** Makes an option of llm-guard's files that does nothing here, of which the log warns where a file has it. */
const ignored = (schema: z.ZodType, why: string) =>
  notASetting(ofLlmGuard(withoutEffect(schema), `; it does nothing here: ${why}.`)).meta({ ignored: why });

const keywords = z.record(z.string(), z.unknown()).nullable();

/** What llm-guard's files may say of PyTorch and transformers, which guard does not use. */
const torchOptions = {
  modelBatchSize: ignored(
    z.number().int().min(1),
    "texts and windows that wait at the same time are batched by themselves",
  ),
  lowCpuMemUsage: ignored(z.boolean(), "scanners that use the same model share one copy of it in memory"),
  torchDtype: ignored(z.string(), "the ONNX file says in which precision the model computes"),
  device: ignored(z.union([z.string(), z.number()]), "GUARD_ONNX_PROVIDERS chooses the device for all models"),
  kwargs: ignored(keywords, "they are arguments of transformers for loading a model"),
  tokenizerKwargs: ignored(keywords, "tokenizer.json says all that is to know of the tokenizer"),
  pipelineKwargs: ignored(keywords, "they are arguments of transformers; write model_max_length for a shorter input"),
};

/**
 * The options that llm-guard's API accepts for every model, for scanners that use a model of the engine.
 *
 * @param option the option that names the model.
 */
export const engineOptions = (option = "model") => ({
  modelMaxLength: z
    .number()
    .int()
    .min(3)
    .optional()
    .describe("Longest input of the model in tokens, where it is to be shorter than what the model can read."),
  ...torchOptions,
  ...modelPathOptions(option),
  useOnnx: notASetting(ofLlmGuard(z.boolean().optional(), "; models always run on ONNX Runtime here.")),
});

/**
 * The options that llm-guard's API accepts for every model, for scanners whose model may be linear. A linear model reads texts of any
 * length, so that the length is no setting for which its curve of thresholds is valid.
 */
export const classifierOptions = {
  ...engineOptions(),
  modelMaxLength: notASetting(
    z
      .number()
      .int()
      .min(3)
      .optional()
      .describe(
        "Longest input of the model in tokens, where it is to be shorter than what the model can read. A linear model reads all.",
      ),
  ),
};
