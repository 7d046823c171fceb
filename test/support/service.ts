import { onTestFinished } from "vitest";
import type { Scanner, Side } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { ScanService } from "../../src/service/service.ts";
import type { ScanRequest, ScanServiceOptions } from "../../src/service/service-types.ts";

/** The options of a service of a test. */
export const SERVICE_OPTIONS: ScanServiceOptions = {
  promptTimeout: 30_000,
  outputTimeout: 30_000,
  maxScans: 10,
  maxMessages: 10,
  lazyLoad: true,
  failFast: false,
  onScannerError: "throw",
  requireFullCoverage: false,
  conversation: { window: 3, scanToolMessages: true, risk: { enabled: false } },
};

/** Makes a scan service that closes when the test ends, and a function that makes requests for it. */
export async function serviceWith(
  { input = [], output = [] }: Partial<Record<Side, Scanner[]>>,
  options: Partial<ScanServiceOptions> = {},
): Promise<{ service: ScanService; request: (more?: Partial<ScanRequest>) => ScanRequest }> {
  const service = new ScanService({ input, output }, { ...SERVICE_OPTIONS, ...options });
  onTestFinished(() => service.close());
  const request = (more: Partial<ScanRequest> = {}): ScanRequest => {
    const { signal } = new AbortController();
    return { suppress: [], offsets: "utf16", rewrite: true, vault: new Vault(), signal, ...more };
  };
  return { service, request };
}
