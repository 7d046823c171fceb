import { GuardValidationError } from "../errors.ts";
import { fromSnakeCase } from "../options.ts";
import type { Scanner, ScannerClass, Side } from "../scanner.ts";
import { Anonymize } from "./input/anonymize.ts";
import { BanCode as InputBanCode } from "./input/ban-code.ts";
import { BanTopics as InputBanTopics } from "./input/ban-topics.ts";
import { Gibberish as InputGibberish } from "./input/gibberish.ts";
import { InvisibleText } from "./input/invisible-text.ts";
import { Language as InputLanguage } from "./input/language.ts";
import { PromptInjection } from "./input/prompt-injection.ts";
import { Sentiment as InputSentiment } from "./input/sentiment.ts";
import { TokenLimit } from "./input/token-limit.ts";
import { Toxicity as InputToxicity } from "./input/toxicity.ts";
import { BanCode as OutputBanCode } from "./output/ban-code.ts";
import { BanTopics as OutputBanTopics } from "./output/ban-topics.ts";
import { Bias } from "./output/bias.ts";
import { Deanonymize } from "./output/deanonymize.ts";
import { FactualConsistency } from "./output/factual-consistency.ts";
import { Gibberish as OutputGibberish } from "./output/gibberish.ts";
import { JSONScanner } from "./output/json.ts";
import { Language as OutputLanguage } from "./output/language.ts";
import { LanguageSame } from "./output/language-same.ts";
import { NoRefusal } from "./output/no-refusal.ts";
import { NoRefusalLight } from "./output/no-refusal-light.ts";
import { ReadingTime } from "./output/reading-time.ts";
import { Relevance } from "./output/relevance.ts";
import { Sensitive } from "./output/sensitive.ts";
import { Sentiment as OutputSentiment } from "./output/sentiment.ts";
import { Toxicity as OutputToxicity } from "./output/toxicity.ts";
import { URLReachability } from "./output/url-reachability.ts";
import { BanCompetitors } from "./shared/ban-competitors.ts";
import { BanSubstrings } from "./shared/ban-substrings.ts";
import { Code } from "./shared/code.ts";
import { EmotionDetection } from "./shared/emotion-detection.ts";
import { MaliciousURLs } from "./shared/malicious-urls.ts";
import { Regex } from "./shared/regex.ts";
import { Secrets } from "./shared/secrets.ts";

/** Every scanner and the sides that it works on. */
const SCANNERS: readonly [ScannerClass, ...Side[]][] = [
  [Anonymize, "input"],
  [InputBanCode, "input"],
  [OutputBanCode, "output"],
  [BanCompetitors, "input", "output"],
  [BanSubstrings, "input", "output"],
  [InputBanTopics, "input"],
  [OutputBanTopics, "output"],
  [Bias, "output"],
  [Code, "input", "output"],
  [Deanonymize, "output"],
  [EmotionDetection, "input", "output"],
  [FactualConsistency, "output"],
  [InputGibberish, "input"],
  [OutputGibberish, "output"],
  [InvisibleText, "input"],
  [JSONScanner, "output"],
  [InputLanguage, "input"],
  [OutputLanguage, "output"],
  [LanguageSame, "output"],
  [MaliciousURLs, "input", "output"],
  [NoRefusal, "output"],
  [NoRefusalLight, "output"],
  [PromptInjection, "input"],
  [ReadingTime, "output"],
  [Regex, "input", "output"],
  [Relevance, "output"],
  [Secrets, "input", "output"],
  [Sensitive, "output"],
  [InputSentiment, "input"],
  [OutputSentiment, "output"],
  [TokenLimit, "input"],
  [InputToxicity, "input"],
  [OutputToxicity, "output"],
  [URLReachability, "output"],
];

/** The scanner classes of a side by their types. */
export function scannerClasses(side: Side): Map<string, ScannerClass> {
  return new Map(SCANNERS.filter(([, ...sides]) => sides.includes(side)).map(([scanner]) => [scanner.type, scanner]));
}

/** The types of scanner that a side has. */
export function scannerTypes(side: Side): string[] {
  return [...scannerClasses(side).keys()];
}

/**
 * Builds a scanner by name, with the parameters as they stand in `scanners.yml` (snake_case) or in a program (camelCase).
 *
 * @throws GuardValidationError: for an unknown type with the path `type`, else with the paths of the parameters at fault.
 */
export function createScanner(side: Side, type: string, params: Record<string, unknown> = {}): Scanner {
  const found = scannerClasses(side).get(type);
  if (!found) {
    const message = `unknown ${side} scanner ${type}; known are: ${scannerTypes(side).join(", ")}`;
    throw new GuardValidationError([{ path: "type", message }]);
  }
  return new found(fromSnakeCase(found.options, params ?? {}) as never);
}
