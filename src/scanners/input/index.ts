export { BanSubstrings } from "../shared/ban-substrings.ts";
export { Regex } from "../shared/regex.ts";
export { InvisibleText } from "./invisible-text.ts";
export {
  type ClassifierAnswer,
  type Detection,
  type InjectionClassifier,
  type LabelScore,
  PromptInjection,
} from "./prompt-injection.ts";
export { TokenLimit } from "./token-limit.ts";
