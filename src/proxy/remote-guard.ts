import { Registry } from "prom-client";
import { RemoteGuard } from "../guard/remote/remote-guard.ts";
import { GuardError } from "../support/errors.ts";
import type { ProxyGuard } from "./settings.ts";

const READY_TIMEOUT_MS = 5000;

/**
 * Returns the guard of a proxy that calls a guard server. It loads neither the addon nor models.
 *
 * @param token a bearer token for the server.
 * @throws GuardValidationError for an invalid address.
 */
export function remoteGuard(url: string, token?: string): ProxyGuard {
  const guard = new RemoteGuard({ url, ...(token ? { credential: { bearer: token } } : {}) });
  return {
    guard,
    registry: new Registry(),
    load: async () => {},
    async ready() {
      const address = new URL("readyz", url.endsWith("/") ? url : `${url}/`);
      const reply = await fetch(address, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) }).catch(() => undefined);
      await reply?.body?.cancel();
      if (!reply?.ok) throw new GuardError("GUARD_UNAVAILABLE", "The guard server is not ready.");
    },
    close: () => guard.close(),
    warnings: [],
    logLines: [[{ guard: new URL(url).origin }, "a guard server checks the calls"]],
  };
}
