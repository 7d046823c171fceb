import { z } from "zod";
import { BanTopicsBase, banTopicsOptions } from "../shared/ban-topics.ts";

const schema = z.strictObject(banTopicsOptions(0.75));

/**
 * Blocks outputs on certain topics. A finding names the topic, its probability and the window or sentence.
 *
 * The embedded model costs one pass however many topics there are, and the probabilities of topics do not depend on each other;
 * llm-guard's takes a pass for each, and the probabilities of two topics or more add up to one.
 */
export class BanTopics extends BanTopicsBase<typeof schema> {
  static readonly type = "BanTopics";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a rate that its curve does not have. */
  constructor(options: z.input<typeof schema>) {
    super(schema, options);
  }
}
