import type { Engine } from "../models/engine.ts";
import type { ScanServiceOptions } from "../service/service.ts";
import type { Config } from "./schema.ts";

/**
 * What a configuration asks of the service that scans.
 *
 * @param engine the engine of its scanners, whose models the service tests.
 */
export function serviceOptions({ app, conversation, stream }: Config, engine?: Engine): ScanServiceOptions {
  return {
    promptTimeout: app.scanPromptTimeout,
    outputTimeout: app.scanOutputTimeout,
    maxScans: app.queueSize,
    maxQueueTime: app.maxQueueTime,
    maxMessages: app.maxMessages,
    lazyLoad: app.lazyLoad,
    selfTestInterval: app.selfTestInterval,
    ...(engine ? { selfTest: (signal: AbortSignal) => engine.selfTest(signal) } : {}),
    failFast: app.scanFailFast,
    onScannerError: app.onScannerError === "block" ? "block" : "throw",
    requireFullCoverage: app.requireFullCoverage,
    masking: app.masking,
    conversation,
    stream,
  };
}
