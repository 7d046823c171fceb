// `guard-scan/plugin`: what scanners, recognizers and classifiers outside of guard are written with. Programs that only scan need none of it.
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
