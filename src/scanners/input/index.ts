export { BanCompetitors } from "../shared/ban-competitors.ts";
export { BanSubstrings } from "../shared/ban-substrings.ts";
export { Code } from "../shared/code.ts";
export { EmotionDetection } from "../shared/emotion-detection.ts";
export { MaliciousURLs } from "../shared/malicious-urls.ts";
export type { RecognizedEntity, Recognizer } from "../shared/personal-data.ts";
export { Regex } from "../shared/regex.ts";
export { Secrets } from "../shared/secrets.ts";
export { Anonymize } from "./anonymize.ts";
export { BanCode } from "./ban-code.ts";
export { BanTopics } from "./ban-topics.ts";
export { Gibberish } from "./gibberish.ts";
export { InvisibleText } from "./invisible-text.ts";
export { Language } from "./language.ts";
export {
  type ClassifierAnswer,
  type Detection,
  type InjectionClassifier,
  type LabelScore,
  PromptInjection,
} from "./prompt-injection.ts";
export { Sentiment } from "./sentiment.ts";
export { TokenLimit } from "./token-limit.ts";
export { Toxicity } from "./toxicity.ts";
