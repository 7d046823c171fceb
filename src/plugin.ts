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
export {
  type Build,
  type DefinedScanner,
  defineScanner,
  type PluginScannerDefinition,
  type ScannerBody,
  type ScannerEnvironment,
} from "./scanners/definition.ts";
export type { OptionsSchema, StandardSchema } from "./scanners/options-schema.ts";
