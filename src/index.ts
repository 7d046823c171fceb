// The classes of scanners are exported by side: `new input.Toxicity()`, `new output.Toxicity()`. `guard-scan/input-scanners` and
// `guard-scan/output-scanners` export them by name. `guard-scan/plugin` exports the functions for writing scanners.

export {
  type ConversationOptions,
  type ConversationReport,
  ConversationRisk,
  type DetectingScanner,
  type RiskAssessment,
  type ScoringFunction,
  scanConversation,
} from "./conversation/scan-conversation.ts";
export { type OutputReport, type PromptReport, scanOutput, scanPrompt } from "./conversation/single-text.ts";
export {
  type DocumentReport,
  type DocumentsOptions,
  type DocumentsReport,
  type MaskedReport,
  scanDocuments,
} from "./documents/scan-documents.ts";
export { type ExchangePart, GuardBlockedError } from "./guard/blocked-error.ts";
export type { ConfigGuardOptions, GuardOptions, ScannerGuardOptions } from "./guard/create-guard.ts";
export type * from "./guard/guard.ts";
export { RemoteGuard } from "./guard/remote/remote-guard.ts";
export type { RemoteCredential, RemoteGuardOptions } from "./guard/remote/remote-options.ts";
export type { AnsweredToolCall } from "./messages/conversation.ts";
export { pinTools } from "./messages/pin-tools.ts";
export { type AnswerListener, Engine } from "./models/engine.ts";
export type { EngineOptions } from "./models/engine-options.ts";
export { listModels, type ModelEntry } from "./models/list-models.ts";
export type { ModelEnd, ModelObserver } from "./models/model-observer.ts";
export type { EngineInfo, EngineTimings } from "./native.ts";
export { loadPlugin, type PluginSource } from "./plugins/load.ts";
export type { Plugins } from "./plugins/plugins.ts";
export type { ChatRequest, ContentPart, Message } from "./scan/chat-request.ts";
export type { CheckId, CheckOutcome, CheckResult, Scope } from "./scan/check-result.ts";
export type { MessageText, TextPiece, ToolCall, ToolDefinition } from "./scan/conversation-text.ts";
export { applyEdits, type Edit } from "./scan/edits.ts";
export type { AppliedException } from "./scan/exceptions/excepted-verdict.ts";
export type { Exception } from "./scan/exceptions/exception.ts";
export { type ExceptionOptions, Exceptions } from "./scan/exceptions/exceptions.ts";
export type { ScannerEnd, ScannerObserver, ScannerStart, ScanObserver, VerdictSummary } from "./scan/observer.ts";
export { isWithheld, type Outcome, type ReviewPolicy } from "./scan/outcome.ts";
export type { ScanCoverage, ScanReport, TextReport } from "./scan/report.ts";
export type { ScanOptions } from "./scan/scan-options.ts";
export type {
  ConversationContext,
  Coverage,
  Detection,
  Explanation,
  Finding,
  ScanContext,
  Scanner,
  ScannerVerdict,
  Side,
  Streaming,
  Verdict,
} from "./scan/scanner.ts";
export { SOURCES, type Source } from "./scan/source.ts";
export { Vault, type VaultEntry } from "./scan/vault.ts";
export { type SharedVerdicts, VerdictCache, type VerdictStore } from "./scan/verdict-cache.ts";
export { addRecognizers } from "./scanners/add-recognizers.ts";
export { type PlantedCanary, plantCanary } from "./scanners/canary/canary-token.ts";
export { createScanner, scannerTypes } from "./scanners/catalog.ts";
export type { DefinedScanner } from "./scanners/definition.ts";
export * as input from "./scanners/generated/input-scanners.ts";
export * as output from "./scanners/generated/output-scanners.ts";
export type { AdHocRecognizer } from "./scanners/parts/ad-hoc-recognizers.ts";
export type { CustomNerModel } from "./scanners/parts/custom-ner-model.ts";
export type { NerModelConf } from "./scanners/parts/ner-model.ts";
export { decryptPersonalData } from "./scanners/parts/operators.ts";
export type { RecognizedEntity, Recognizer } from "./scanners/parts/recognizers.ts";
export type { Threshold } from "./scanners/parts/threshold.ts";
export type { PinStore, ToolPins } from "./scanners/parts/tool-pins.ts";
export type { ClassifierAnswer, InjectionClassifier } from "./scanners/prompt-injection/custom-classifier.ts";
export type { AnswerStream, StreamStep } from "./stream/answer-stream.ts";
export { type ScannedStream, type StreamScanOptions, scanOutputStream } from "./stream/scan-output-stream.ts";
export type { StreamOptions, StreamReport } from "./stream/stream-options.ts";
export {
  type ErrorCode,
  GuardError,
  GuardValidationError,
  LLMGuardValidationError,
  ScannerError,
  type ValidationIssue,
} from "./support/errors.ts";
export type { PluginKind } from "./support/plugin-kind.ts";
export { type Sentence, splitSentences } from "./text/sentences.ts";
export type { Span } from "./text/span.ts";
export { type FoundUrl, findUrls } from "./text/urls.ts";

// These functions import their modules on the first call, because programs that only scan do not need them.

/**
 * Creates a guard whose scanners run in this process.
 *
 * With lists of scanners, the first call that needs a model loads it, unless `lazyLoad` is false. With a configuration, `app.lazy_load`
 * decides. By default, all models are loaded before the promise resolves. Closing the guard closes its scanners.
 *
 * @throws GuardValidationError with the paths of invalid values, and GuardError `GUARD_SCANNER` if a scanner cannot be loaded.
 */
export const createGuard: typeof import("./guard/create-guard.ts").createGuard = async (options) =>
  (await import("./guard/create-guard.ts")).createGuard(options);

/**
 * Reads and validates a configuration file, expands `${NAME:default}` from the environment, and loads plugins.
 *
 * @throws GuardValidationError with the path and line of every invalid value.
 */
export const loadConfig: typeof import("./config/index.ts").loadConfig = async (...options) =>
  (await import("./config/index.ts")).loadConfig(...options);

/** Creates the HTTP server of a configuration. It does not listen yet. */
export const createServer: typeof import("./server/index.ts").createServer = async (...options) =>
  (await import("./server/index.ts")).createServer(...options);
