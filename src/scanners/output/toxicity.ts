import { z } from "zod";
import { ToxicityBase, toxicityOptions } from "../shared/toxicity.ts";

const schema = z.strictObject(toxicityOptions(0.7));

/**
 * Blocks outputs that insult, threaten, attack people for what they are, or are obscene.
 *
 * A finding names the label, its probability and the window or sentence. The default reads all of a text, and what it hides
 * besides; llm-guard's default was `full`, which looks at the beginning only.
 */
export class Toxicity extends ToxicityBase<typeof schema> {
  static readonly type = "Toxicity";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    super(schema, options);
  }
}
