import { isLoopback } from "../config/safe-address.ts";
import { listenUntilClosed, type RunningServer } from "../http-server/listen-until-closed.ts";
import type { LogStream } from "../http-server/log.ts";
import { GuardValidationError } from "../support/errors.ts";
import { buildProxy, type ProxyConfig } from "./app.ts";
import { DEFAULT_CONFIG, GRACE_MS, loadModels } from "./program.ts";
import { checkSettings, type ProxyGuard, type ProxyLimits } from "./settings.ts";

export interface ProxyOptions extends ProxyLimits {
  /** Creates the guard, after the other options are validated. The proxy closes it. */
  guard: () => ProxyGuard | Promise<ProxyGuard>;
  config?: ProxyConfig;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: 8080; 0 takes a free one. */
  port?: number;
  /** Whether other machines may call without a credential of guard. */
  isPublic?: boolean;
  /** The destination of log lines. Default: standard output. */
  logger?: LogStream;
  /** Closes the proxy when aborted. */
  signal?: AbortSignal;
}

/**
 * Starts a proxy as the program of this process: SIGTERM and SIGINT close it, and a model that cannot be loaded ends it with exit code 2.
 *
 * @throws GuardValidationError for invalid options, and for an address that other machines reach without `auth` or `isPublic`.
 */
export async function startProxy({
  guard: createGuard,
  config = DEFAULT_CONFIG,
  host = "127.0.0.1",
  port = 8080,
  isPublic = false,
  logger = process.stdout,
  signal,
  ...limits
}: ProxyOptions): Promise<RunningServer> {
  const settings = checkSettings({ ...limits, isPublic });
  if (!isPublic && (config.auth?.length ?? 0) === 0 && !isLoopback(host)) {
    const message =
      `other machines could use the upstreams on ${host}. Allow it with --public, or add the section auth to the configuration, ` +
      "with type: api_key and a header of its own";
    throw new GuardValidationError([{ path: "host", message }]);
  }
  const guard = await createGuard();
  let app: Awaited<ReturnType<typeof buildProxy>>;
  try {
    app = await buildProxy({ settings, guard, config, logger, graceMs: GRACE_MS });
  } catch (error) {
    await guard.close();
    throw error;
  }
  for (const [fields, message] of guard.logLines) app.log.info(fields, message);
  for (const warning of guard.warnings) app.log.warn(warning);
  return listenUntilClosed(
    app,
    { host, port },
    {
      graceMs: () => GRACE_MS,
      ...(signal ? { signal } : {}),
      onListening(url, close) {
        const upstreams = settings.upstreams.map(({ prefix, base }) => `${prefix}/ to ${base}`);
        app.log.info({ url, upstreams, pass: settings.pass }, "guarding");
        loadModels(guard, app, close);
      },
    },
  );
}
