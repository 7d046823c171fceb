import type { FastifyInstance } from "fastify";
import type { ProxyConfig } from "./app.ts";
import type { ProxyGuard } from "./settings.ts";

/** How long calls in progress may take when a program that guards calls closes. Longer responses are cut. */
export const GRACE_MS = 30_000;

/** The configuration of such a program without a file. */
export const DEFAULT_CONFIG: ProxyConfig = { app: { logLevel: "info", logJson: true, logContent: false } };

/** Loads the models. If one cannot be loaded, the program closes, with exit code 2. */
export function loadModels(
  guard: Pick<ProxyGuard, "load">,
  { log }: Pick<FastifyInstance, "log">,
  close: () => Promise<void>,
): void {
  const start = performance.now();
  guard.load().then(
    () => log.info({ ms: Math.round(performance.now() - start) }, "ready"),
    (error) => {
      log.fatal({ err: error, reason: error.message }, "a scanner could not be loaded");
      process.exitCode = 2;
      return close();
    },
  );
}
