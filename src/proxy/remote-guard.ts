import { Registry } from "prom-client";
import { RemoteGuard } from "../guard/remote/remote-guard.ts";
import { GuardError } from "../support/errors.ts";
import type { ProxyGuard } from "./settings.ts";

/** The most milliseconds that a server may take to say that it is ready. */
const READY_WITHIN = 5000;

/**
 * The guard of a proxy that asks a server of guard. No model and no addon is loaded.
 *
 * @param token what the server is shown to let the proxy in, if it asks for a token.
 * @throws GuardValidationError for what is no address.
 */
export function remoteGuard(url: string, token?: string): ProxyGuard {
  const guard = new RemoteGuard({ url, ...(token ? { credential: { bearer: token } } : {}) });
  return {
    guard,
    registry: new Registry(),
    load: async () => {},
    async ready() {
      const address = new URL("readyz", url.endsWith("/") ? url : `${url}/`);
      const reply = await fetch(address, { signal: AbortSignal.timeout(READY_WITHIN) }).catch(() => undefined);
      await reply?.body?.cancel();
      if (!reply?.ok) throw new GuardError("GUARD_UNAVAILABLE", "The guard server is not ready.");
    },
    close: () => guard.close(),
    warnings: [],
    lines: [[{ guard: new URL(url).origin }, "checks are made by a guard server"]],
  };
}
