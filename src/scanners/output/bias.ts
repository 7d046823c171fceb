import { z } from "zod";
import type { ScanContext } from "../../scanner.ts";
import { LabelScanner, labelScannerOptions } from "../shared/label-scanner.ts";

/** UTF-16 code units of a prompt's end that an output is read with: about half of a window. */
const PROMPT_CHARS = 512;

const schema = z.strictObject({
  ...labelScannerOptions(0.7, "bias"),
  labels: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe(
      "Labels of the model that mean bias; of several the likeliest counts, or their sum where they exclude each other. Default: biased.",
    ),
  usePrompt: z
    .boolean()
    .default(false)
    .describe(
      `With match_type windows: reads an output behind the last ${PROMPT_CHARS} characters of its prompt, so that what these say ` +
        "counts too. false: by itself, in one pass with other scanners that share the model.",
    ),
});

/**
 * Blocks outputs that are biased: slanted wording, and sweeping judgements on groups of people.
 *
 * llm-guard reads the prompt and the output as one text, so that a neutral answer fails for what a slanted prompt says. Here an
 * output is read by itself unless `usePrompt` says otherwise; its window holds the end of the prompt then, and parts that hold
 * nothing of the output do not count. All of an output is read (`windows`); llm-guard's default was `full`.
 */
export class Bias extends LabelScanner<typeof schema> {
  static readonly type = "Bias";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    const wanted = ({ labels }: z.output<typeof schema>) => ({
      ...{ head: "bias", option: "labels" },
      ...{ labels: labels ?? ["biased"], all: labels !== undefined },
    });
    super(Bias.type, schema, options, wanted, "bias");
  }

  protected override judged(text: string, { prompt = "" }: ScanContext) {
    const { usePrompt, matchType } = this.options;
    if (!usePrompt || matchType !== "windows" || prompt.trim() === "") return { text, from: 0 };
    const before = `${prompt.slice(-PROMPT_CHARS)}\n`;
    return { text: before + text, from: before.length };
  }
}
