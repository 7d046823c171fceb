import { onTestFinished } from "vitest";
import type { Scanner, Side } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { type ScanRequest, ScanService, type ScanServiceOptions } from "../../src/service/service.ts";

const OPTIONS: ScanServiceOptions = {
  promptTimeout: 30,
  outputTimeout: 30,
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
  const service = new ScanService({ input, output }, { ...OPTIONS, ...options });
  onTestFinished(() => service.close());
  const request = (more: Partial<ScanRequest> = {}): ScanRequest => {
    const { signal } = new AbortController();
    return { suppress: [], details: false, rewrite: true, vault: new Vault(), signal, ...more };
  };
  return { service, request };
}
