import { z } from "zod";
import { BanCodeBase } from "../shared/ban-code.ts";
import { codeOptions } from "../shared/code-pieces.ts";

const schema = z.strictObject(codeOptions(0.97));

/** Blocks prompts that contain code in any language; markup, configuration and data formats such as JSON count as code. */
export class BanCode extends BanCodeBase<typeof schema> {
  static readonly type = "BanCode";
  static readonly options = schema;

  constructor(options: z.input<typeof schema> = {}) {
    super(BanCode.type, schema, options);
  }
}
