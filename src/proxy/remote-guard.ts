import { Registry } from "prom-client";
import { MonitoringGuard } from "../guard/monitoring-guard.ts";
import { RemoteGuard } from "../guard/remote/remote-guard.ts";
import type { Mode } from "../scan/mode.ts";
import { GuardError } from "../support/errors.ts";
import type { ProxyGuard } from "./settings.ts";

const READY_TIMEOUT_MS = 5000;
const MONITORS = "the proxy only monitors: no call is blocked or changed";

/**
 * Returns the guard of a proxy that calls a guard server. It loads neither the addon nor models.
 *
 * @param token a bearer token for the server.
 * @param mode with `monitor`, the verdicts of the server are only reported.
 * @throws GuardValidationError for an invalid address.
 */
export function remoteGuard(url: string, token?: string, mode: Mode = "enforce"): ProxyGuard {
  const guard = new RemoteGuard({ url, ...(token ? { credential: { bearer: token } } : {}) });
  return {
    guard: mode === "monitor" ? new MonitoringGuard(guard) : guard,
    registry: new Registry(),
    load: async () => {},
    async ready() {
      const address = new URL("readyz", url.endsWith("/") ? url : `${url}/`);
      const reply = await fetch(address, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) }).catch(() => undefined);
      await reply?.body?.cancel();
      if (!reply?.ok) throw new GuardError("GUARD_UNAVAILABLE", "The guard server is not ready.");
    },
    close: () => guard.close(),
    warnings: mode === "monitor" ? [MONITORS] : [],
    logLines: [[{ guard: new URL(url).origin }, "a guard server checks the calls"]],
  };
}
