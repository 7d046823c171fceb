import type { ProxyGuard } from "../proxy/settings.ts";
import { ExternalProcessor } from "./ext-proc/external-processor.ts";
import { checkLimits, type ExtProcLimits } from "./ext-proc/settings.ts";
import { type HandlerOptions, type ListenOptions, type RunningGrpcServer, startGrpcServer } from "./start-server.ts";

export interface ExtProcOptions extends ExtProcLimits, ListenOptions, Pick<HandlerOptions<ProxyGuard>, "guard"> {}

/** Bytes of a message besides the body that it carries. */
const MESSAGE_OVERHEAD = 1_048_576;

/**
 * Starts an external processor of Envoy as the program of this process.
 *
 * @throws GuardValidationError for invalid options.
 */
export async function startExtProc(options: ExtProcOptions): Promise<RunningGrpcServer> {
  const { guard, config, host, port, httpPort, tls, isPublic, logger, signal, ...limits } = options;
  const settings = checkLimits(limits);
  const { maxBodySize, maxCalls, pass } = settings;
  const given = { config, host, port, httpPort, tls, isPublic, logger, signal };
  const listen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ListenOptions;
  return startGrpcServer(listen, {
    guard,
    createHandler: ({ guard, config, log }) =>
      new ExternalProcessor({ settings, guard, auth: config.auth ?? [], logContent: config.app.logContent, log }),
    maxMessageSize: maxBodySize + MESSAGE_OVERHEAD,
    maxStreams: 4 * maxCalls,
    fields: { pass },
  });
}
