import type { ScanServiceOptions } from "../service.ts";
import type { Config } from "./schema.ts";

/** What a configuration asks of the service that scans. */
export function serviceOptions({ app, conversation, stream }: Config): ScanServiceOptions {
  return {
    promptTimeout: app.scanPromptTimeout,
    outputTimeout: app.scanOutputTimeout,
    maxScans: app.queueSize,
    maxMessages: app.maxMessages,
    lazyLoad: app.lazyLoad,
    failFast: app.scanFailFast,
    onScannerError: app.onScannerError === "block" ? "block" : "throw",
    requireFullCoverage: app.requireFullCoverage,
    masking: app.masking,
    conversation,
    stream,
  };
}
