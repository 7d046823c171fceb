import { z } from "zod";
import { MODEL_DESCRIPTION, READINGS } from "../../models/model.ts";

/** The model that guard's own classifiers share: one pass over a text answers them all. */
export const MULTITASK = "embedded:multitask";

/** The option that names a model of the engine. */
export const modelOption = z.string().min(1).default(MULTITASK).describe(MODEL_DESCRIPTION);

/** How a text longer than the model's input is read. */
export const matchTypeOption = z
  .enum(READINGS)
  .default("windows")
  .describe(
    "windows: all of the text, in overlapping pieces where it is longer than the model reads at once. full: its beginning. " +
      "sentence: each sentence. " +
      "truncate_token_head_tail, truncate_head_tail: beginning and end. chunks: pieces of 256 characters. The worst decides.",
  );

/** The option of llm-guard that has no meaning here. */
export const useOnnxOption = z.boolean().optional().describe("Of llm-guard; models always run on ONNX Runtime here.");
