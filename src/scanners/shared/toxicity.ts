import { z } from "zod";
import { deobfuscateOption } from "./disguises.ts";
import { LabelScanner, labelScannerOptions } from "./label-scanner.ts";

/** The labels of llm-guard's model that count, which are those of Jigsaw's "Unintended Bias in Toxicity Classification" (2019). */
const LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"];

/** The options of Toxicity. */
export function toxicityOptions(threshold: number) {
  return {
    ...labelScannerOptions(threshold, "the likeliest label"),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        `Labels of the model that count, such as threat and insult. Default: those of ${LABELS.join(", ")} that it has.`,
      ),
    deobfuscate: deobfuscateOption,
  };
}

type ToxicitySchema = z.ZodObject<ReturnType<typeof toxicityOptions>>;

/** Both sides of Toxicity: they differ in the default threshold, as in llm-guard 0.3.16. */
export abstract class ToxicityBase<Schema extends ToxicitySchema> extends LabelScanner<Schema> {
  protected constructor(schema: Schema, options: z.input<Schema>) {
    const wanted = ({ labels }: z.output<ToxicitySchema>) => ({
      ...{ head: "toxicity", option: "labels" },
      ...{ labels: labels ?? LABELS, all: labels !== undefined },
    });
    super("Toxicity", schema, options, wanted, "toxicity");
  }
}
