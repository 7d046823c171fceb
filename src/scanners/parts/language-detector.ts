import { madeFrom } from "../../errors.ts";
import { LanguageDetector } from "../../models/languages.ts";
import type { Build } from "../define.ts";
import { linearModelOption, linearOptions } from "./model-options.ts";

/** The options of scanners that detect languages which say what model does. */
export const languageModelOptions = {
  model: linearModelOption("embedded:language", "a linear model of languages"),
  ...linearOptions,
};

/** The detector that a scanner's option `model` names. */
export function languageDetector({ options, engine }: Build<{ model: string }>): LanguageDetector {
  return madeFrom("model", () => new LanguageDetector(engine.linear(options.model)));
}
