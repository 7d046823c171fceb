import { z } from "zod";
import { MODEL_DESCRIPTION } from "../../models/model-files.ts";
import { READINGS } from "../../models/reading.ts";
import { notASetting, ofLlmGuard } from "../../validation/options.ts";

/** The model that guard's own classifiers share: one pass over a text answers them all. */
export const MULTITASK = "embedded:multitask";

/**
 * The option that names a model of the engine.
 *
 * @param name its default.
 */
export const modelOption = (name = MULTITASK) =>
  notASetting(z.string().min(1).default(name).describe(MODEL_DESCRIPTION));

/**
 * The option that names a linear model.
 *
 * @param name its default.
 * @param what what the model has to be, for the documentation.
 */
export const linearModelOption = (name: string, what = "a linear model") =>
  notASetting(
    z
      .string()
      .min(1)
      .default(name)
      .describe(`embedded:<name>, or a folder with the config.json and model.bin of ${what}.`),
  );

/** How a text longer than the model's input is read. */
export const matchTypeOption = z
  .enum(READINGS)
  .default("windows")
  .describe(
    "windows: all of the text, in overlapping pieces where it is longer than the model reads at once. full: its beginning. " +
      "sentence: each sentence. " +
      "truncate_token_head_tail, truncate_head_tail: beginning and end. chunks: pieces of 256 characters. The worst decides.",
  );

/** An option that has no effect: not even among the settings that a curve of thresholds holds for. */
const withoutEffect = (schema: z.ZodType<number>) => schema.optional().transform(() => undefined);

/** An option of llm-guard's API in whose place `option` stands here. */
const replacedBy = (option: string) =>
  ofLlmGuard(
    z.undefined(`write ${option}: a folder with the model, its ONNX file or owner/name of the hub`).optional(),
    `, where it is an error here: write ${option}.`,
  );

const modelBatchSize = ofLlmGuard(
  withoutEffect(z.number().int().min(1)),
  "; texts and windows that wait at the same time are batched by themselves here.",
);

/**
 * What llm-guard's API takes wherever it configures a model, of scanners with a model of the engine.
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
  modelBatchSize,
  modelPath: replacedBy(option),
  modelOnnxFileName: replacedBy(option),
  useOnnx: notASetting(ofLlmGuard(z.boolean().optional(), "; models always run on ONNX Runtime here.")),
});

const linearModel = ofLlmGuard(
  z
    .undefined(
      "write model: a folder with the config.json and model.bin of a linear model; a neural one cannot stand here",
    )
    .optional(),
  ", where it is an error here: write model.",
);

/** The same of scanners with a linear model. */
export const linearOptions = {
  modelMaxLength: ofLlmGuard(
    withoutEffect(z.number().int().min(1)),
    "; the model is linear and reads texts of any length.",
  ),
  modelBatchSize,
  modelPath: linearModel,
  modelOnnxFileName: linearModel,
  useOnnx: notASetting(ofLlmGuard(z.boolean().optional(), "; the model is linear and needs no ONNX Runtime.")),
};
