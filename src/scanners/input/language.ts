import { z } from "zod";
import { LanguageBase, languageOptions } from "../shared/language.ts";

const schema = z.strictObject(languageOptions(0.6));

/** Blocks texts in languages other than the listed ones. A text without letters is in no language and passes. */
export class Language extends LanguageBase<typeof schema> {
  static readonly type = "Language";
  static readonly options = schema;

  constructor(options: z.input<typeof schema>) {
    super(Language.type, schema, options);
  }
}
