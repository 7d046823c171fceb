import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Config } from "../config/index.ts";
import { isLoopback } from "../config/safe-address.ts";
import { auth } from "../http-server/callers/auth.ts";
import { handleClientError, httpServerFactory } from "../http-server/http-server.ts";
import { listenUntilClosed, type RunningServer } from "../http-server/listen-until-closed.ts";
import { type LogStream, loggerOptions } from "../http-server/log.ts";
import { headerChecks } from "../http-server/plugins/header-checks.ts";
import { lifecycle } from "../http-server/plugins/lifecycle.ts";
import { sameOrigin } from "../http-server/plugins/same-origin.ts";
import { requestId } from "../http-server/request-id.ts";
import type { ProxyConfig } from "../proxy/app.ts";
import { proxyErrors } from "../proxy/errors.ts";
import { OWN_PATHS, ownRoutes } from "../proxy/own-routes.ts";
import { DEFAULT_CONFIG, GRACE_MS, loadModels } from "../proxy/program.ts";
import type { ProxyGuard } from "../proxy/settings.ts";
import { GuardValidationError } from "../support/errors.ts";
import { GrpcServer, type GrpcService, type TlsFiles } from "./grpc-server.ts";

/** Where and for whom a server of gRPC listens. */
export interface ListenOptions {
  config?: ProxyConfig;
  /** Default: 127.0.0.1. */
  host?: string;
  /** The port for gRPC. Default: 9002; 0 takes a free one. */
  port?: number;
  /** The port for health checks and metrics over HTTP. Default: 9003; 0 takes a free one. */
  httpPort?: number;
  tls?: TlsFiles | undefined;
  /** Whether other machines may call without a credential of guard or a certificate. */
  isPublic?: boolean;
  /** The destination of log lines. Default: standard output. */
  logger?: LogStream;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
}

/** What serves the calls. */
export interface CallHandler {
  service: GrpcService;
  /** Refuses new calls from now on. */
  close(): void;
}

/** Scanners, and what a server says about them. */
type Scanners = Omit<ProxyGuard, "guard">;

export interface HandlerOptions<Guard extends Scanners = Scanners> {
  /** Creates the guard, after the address is checked. The server closes it. */
  guard: () => Guard | Promise<Guard>;
  createHandler(context: { guard: Guard; config: ProxyConfig; log: FastifyBaseLogger }): CallHandler;
  /** The bytes of the largest message. */
  maxMessageSize: number;
  /** Calls of one connection at a time. */
  maxStreams: number;
  /** Further fields of the log line of the start. */
  fields?: Record<string, unknown>;
}

/** A server of gRPC that listens. `url` is the address for health checks and metrics. */
export interface RunningGrpcServer extends RunningServer {
  grpcPort: number;
}

/**
 * Starts a server of gRPC as the program of this process: SIGTERM and SIGINT close it, and a model that cannot be loaded ends it with exit
 * code 2.
 *
 * @throws GuardValidationError for an address that other machines reach without `auth`, `clientCa` or `isPublic`.
 */
export async function startGrpcServer<Guard extends Scanners>(
  listen: ListenOptions,
  handler: HandlerOptions<Guard>,
): Promise<RunningGrpcServer> {
  const { config = DEFAULT_CONFIG, host = "127.0.0.1", port = 9002, httpPort = 9003, tls, signal } = listen;
  assertSafe(host, listen);
  const guard = await handler.guard();
  const isReady = () =>
    guard.ready().then(
      () => true,
      () => false,
    );
  const server = new GrpcServer({ maxMessageSize: handler.maxMessageSize, maxStreams: handler.maxStreams, isReady });
  let opened: CallHandler | undefined;
  const app = await httpApp(guard, listen, async () => {
    opened?.close();
    await server.close(GRACE_MS);
    await guard.close();
  });
  const { log } = app;
  for (const [fields, message] of guard.logLines) log.info(fields, message);
  for (const warning of guard.warnings) log.warn(warning);
  let grpcPort: number;
  try {
    opened = handler.createHandler({ guard, config, log });
    server.addService(opened.service);
    grpcPort = await server.listen({ host, port, tls });
  } catch (error) {
    await app.close();
    throw error;
  }
  const at = { host, port: httpPort };
  const running = await listenUntilClosed(app, at, {
    graceMs: () => GRACE_MS,
    ...(signal ? { signal } : {}),
    onListening(url, close) {
      log.info({ grpc: `${host}:${grpcPort}`, tls: tls !== undefined, url, ...handler.fields }, "guarding");
      loadModels(guard, app, close);
    },
  });
  return { ...running, grpcPort };
}

function assertSafe(host: string, { config, tls, isPublic = false }: ListenOptions): void {
  const hasCredentials = (config?.auth?.length ?? 0) > 0 || tls?.clientCa !== undefined;
  if (isPublic || hasCredentials || isLoopback(host)) return;
  const message =
    `other machines could call guard on ${host}. Allow it with --public, demand certificates with --tls-client-ca, or add the section ` +
    "auth to the configuration";
  throw new GuardValidationError([{ path: "host", message }]);
}

/** Creates the server for health checks and metrics over HTTP. */
async function httpApp(
  guard: Scanners,
  { config = DEFAULT_CONFIG, logger = process.stdout, isPublic = false }: ListenOptions,
  onClosed: () => Promise<void>,
): Promise<FastifyInstance> {
  const entries = config.auth ?? [];
  const app = fastify({
    logger: loggerOptions(config.app as Config["app"], logger),
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: requestId,
    serverFactory: httpServerFactory(),
    clientErrorHandler: handleClientError,
  }) as unknown as FastifyInstance;
  app.decorateRequest("proxied", null);
  await app.register(proxyErrors);
  await app.register(lifecycle, { graceMs: GRACE_MS, onClosed });
  await app.register(headerChecks);
  if (entries.length === 0 && !isPublic) {
    await app.register(sameOrigin, { allowedHosts: config.app.allowedHosts ?? [] });
  }
  await app.register(auth, { entries });
  await app.register(ownRoutes, { guard, paths: OWN_PATHS });
  return app;
}
