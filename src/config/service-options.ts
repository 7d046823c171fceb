import type { Engine } from "../models/engine.ts";
import type { ScanServiceOptions } from "../service/service-types.ts";
import type { Config } from "./schema.ts";

/**
 * Returns the service options of a configuration.
 *
 * @param engine the engine whose self-tests the service runs.
 */
export function serviceOptions({ app, conversation, stream }: Config, engine?: Engine): ScanServiceOptions {
  return {
    promptTimeout: app.scanPromptTimeout * 1000,
    outputTimeout: app.scanOutputTimeout * 1000,
    maxScans: app.queueSize,
    maxQueueTime: app.maxQueueTime * 1000,
    maxMessages: app.maxMessages,
    lazyLoad: app.lazyLoad,
    selfTestInterval: app.selfTestInterval * 1000,
    ...(engine ? { selfTest: (signal: AbortSignal) => engine.selfTest(signal) } : {}),
    failFast: app.scanFailFast,
    onScannerError: app.onScannerError === "block" ? "block" : "throw",
    requireFullCoverage: app.requireFullCoverage,
    masking: app.masking,
    conversation,
    stream,
  };
}
