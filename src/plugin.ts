// `guard-scan/plugin`: functions and types for writing scanners, recognizers and classifiers. Programs that only scan do not need them.
export { defaultEngine } from "./models/engine.ts";
export { applyEdits, diffEdits, type Edit } from "./scan/edits.ts";
export {
  type ConversationContext,
  type Coverage,
  type Detection,
  type Finding,
  passed,
  type ScanContext,
  type Scanner,
  type ScannerVerdict,
  type Side,
  type Streaming,
  type Verdict,
  wholeText,
} from "./scan/scanner.ts";
export { riskScore } from "./scan/score.ts";
export { defineScanner } from "./scanners/define-scanner.ts";
export type {
  Build,
  DefinedScanner,
  PluginScannerDefinition,
  ScannerBody,
  ScannerEnvironment,
} from "./scanners/definition.ts";
export type { OptionsSchema, StandardSchema } from "./scanners/options-schema.ts";
