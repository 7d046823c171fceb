import { z } from "zod";
import { GibberishBase, gibberishOptions } from "../shared/gibberish.ts";

const schema = z.strictObject(gibberishOptions(0.7));

/** Blocks outputs that are no language: word salad, keyboard mashing, noise. */
export class Gibberish extends GibberishBase<typeof schema> {
  static readonly type = "Gibberish";
  static readonly options = schema;

  /** @throws GuardValidationError for a bad option, a model that is not there or a label that it does not have. */
  constructor(options: z.input<typeof schema> = {}) {
    super(Gibberish.type, schema, options);
  }
}
