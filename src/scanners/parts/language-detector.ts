import { madeFrom } from "../../errors.ts";
import { LanguageDetector } from "../../models/languages.ts";
import type { Build } from "../define.ts";
import { linearModelOption, linearOptions } from "./model-options.ts";

/** The options of language scanners that say which model detects the languages. */
export const languageModelOptions = {
  model: linearModelOption("embedded:language", "a linear model of languages"),
  ...linearOptions,
};

/** Returns the detector that the option `model` of a scanner names. */
export function languageDetector({ options, engine }: Build<{ model: string }>): LanguageDetector {
  return madeFrom("model", () => new LanguageDetector(engine.linear(options.model)));
}
