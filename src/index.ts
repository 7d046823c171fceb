export { loadConfig } from "./config/index.ts";
export {
  type ConversationOptions,
  type ConversationReport,
  ConversationRisk,
  type DetectingScanner,
  type RiskAssessment,
  type ScoringFunction,
  scanConversation,
} from "./conversation.ts";
export {
  GuardError,
  GuardValidationError,
  LLMGuardValidationError,
  ScannerError,
  type ValidationIssue,
} from "./errors.ts";
export type { ContentPart, Message } from "./messages.ts";
export { engineInfo } from "./models/engine.ts";
export { listModels, type ModelEntry } from "./models/model.ts";
export {
  type OutputReport,
  type PromptReport,
  type ScanCoverage,
  type ScanOptions,
  type ScanReport,
  scanOutput,
  scanPrompt,
} from "./scan.ts";
export type { Coverage, Finding, ScanContext, Scanner, Side, Verdict } from "./scanner.ts";
export * from "./scanners/input/index.ts";
export { createScanner, scannerTypes } from "./scanners/registry.ts";
export { riskScore } from "./score.ts";
export { type Sentence, splitSentences } from "./sentences.ts";
export type { Threshold } from "./threshold.ts";
export { type FoundUrl, findUrls } from "./urls.ts";
export { Vault, type VaultEntry } from "./vault.ts";

/** Builds the HTTP server. It is loaded by the first call, so that programs that only scan do not pay for it. */
export const createServer: typeof import("./server/index.ts").createServer = async (...options) =>
  (await import("./server/index.ts")).createServer(...options);
