import type { RequestListener, Server } from "node:http";
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import { credentialNames } from "../config/credential-names.ts";
import type { Config } from "../config/index.ts";
import { shareOf } from "../config/workers.ts";
import { bodyBudget, defaultBodyBudget } from "../http-server/byte-budget.ts";
import { auth } from "../http-server/callers/auth.ts";
import { handleClientError, httpServerFactory } from "../http-server/http-server.ts";
import { type LogStream, loggerOptions } from "../http-server/log.ts";
import { httpMetrics } from "../http-server/metrics/http-metrics.ts";
import { headerChecks } from "../http-server/plugins/header-checks.ts";
import { lifecycle } from "../http-server/plugins/lifecycle.ts";
import { openBodies } from "../http-server/plugins/open-bodies.ts";
import { sameOrigin } from "../http-server/plugins/same-origin.ts";
import { Problem } from "../http-server/problem.ts";
import { requestId } from "../http-server/request-id.ts";
import type { ConfigSource } from "../http-server/start-log.ts";
import type { Engine } from "../models/engine.ts";
import { OPENTELEMETRY, requirePackages } from "../support/optional-packages.ts";
import { version } from "../support/version.ts";
import { type CacheOptions, createResultCache } from "./cache/create-cache.ts";
import type { ResultCache } from "./cache/result-cache.ts";
import { callerOf } from "./callers/caller.ts";
import { type Profiles, profilesPlugin } from "./callers/profiles.ts";
import { type Audit, openAudit } from "./decisions/audit.ts";
import { Decisions } from "./decisions/decisions.ts";
import { dialectRoutes } from "./dialects/dialect-routes.ts";
import { createStore } from "./exceptions/create-store.ts";
import { exceptionsPlugin } from "./exceptions/plugin.ts";
import { RunTimeExceptions } from "./exceptions/run-time-exceptions.ts";
import { SchemaCompilers } from "./http/compilers.ts";
import { UnknownFields } from "./http/other-fields.ts";
import { bodyTimeout } from "./plugins/body-timeout.ts";
import { earlyLoadShedding } from "./plugins/early-load-shedding.ts";
import { errors, sendProblem } from "./plugins/errors.ts";
import { jsonBody } from "./plugins/json-body.ts";
import { openapi } from "./plugins/openapi.ts";
import { processMetrics } from "./plugins/process-metrics.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { requestLog } from "./plugins/request-log.ts";
import { responseBatching } from "./plugins/response-batching.ts";
import { unknownRoutes } from "./plugins/unknown-routes.ts";
import type { ServerContext } from "./process/process-state.ts";
import type { ServerMetrics } from "./process/server-metrics.ts";
import { RedisLinks } from "./redis/redis-link.ts";
import { createReviewStore, reviewsPlugin } from "./reviews/plugin.ts";
import { Reviews } from "./reviews/reviews.ts";
import { batchRoutes } from "./routes/batch.ts";
import { configRoute } from "./routes/config.ts";
import { conversationRoutes } from "./routes/conversation.ts";
import { documentsRoutes } from "./routes/documents.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { outputRoutes } from "./routes/output.ts";
import { outputStreamRoutes } from "./routes/output-stream.ts";
import { profilesRoute } from "./routes/profiles.ts";
import { promptRoutes } from "./routes/prompt.ts";
import { reloadRoute } from "./routes/reload.ts";
import { rootRoute } from "./routes/root.ts";
import { statusRoutes } from "./routes/status.ts";
import { schemas } from "./schemas/index.ts";
import { shadowPlugin } from "./shadow/plugin.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { trafficPlugin } from "./traffic/plugin.ts";
import type { VaultSeal } from "./vault/vault-seal.ts";

/**
 * Returns how many milliseconds requests in progress may take when the server closes: the timeout of scans, and five seconds to receive
 * bodies and send responses. Afterwards their connections are destroyed.
 */
export function gracePeriodMs({ app }: Config): number {
  return Math.max(app.scanPromptTimeout, app.scanOutputTimeout) * 1000 + 5000;
}

/** Timeout of the headers of a request, and of its body. */
const REQUEST_TIMEOUT_MS = 60_000;

/** The routes whose schemas are compiled before the first request. */
const SCAN_URLS = ["/analyze/prompt", "/analyze/output", "/scan/prompt", "/scan/output"];

/** What a server is made of besides its configuration. */
export interface AppDependencies {
  profiles: Profiles;
  seal: VaultSeal;
  stream: LogStream;
  engine: Engine;
  cacheOptions: CacheOptions | undefined;
  shadow?: Shadow | undefined;
  context: ServerContext;
  /** Where the configuration comes from. */
  source?: ConfigSource | undefined;
  /** The warnings of the start. */
  warnings: readonly string[];
  /** The key of the hashes of exact texts, and whether the environment has it. */
  exceptionsKey: { key: Uint8Array; hasKey: boolean };
}

/** A server with its exceptions. */
export interface BuiltApp {
  app: FastifyInstance;
  exceptions: RunTimeExceptions;
  /** Compiles the schemas of scan requests. Otherwise the first request of each route waits 20 to 70 ms for them. */
  compileSchemas(): Promise<void>;
}

/**
 * Returns the Fastify options for logging and listening.
 *
 * @param handle handles the requests instead of the Fastify instance.
 */
export function listenerOptions(
  config: Config,
  stream: LogStream,
  handle?: RequestListener,
): FastifyHttpOptions<Server, FastifyBaseLogger> {
  const createHttpServer = httpServerFactory();
  return {
    logger: loggerOptions(config.app, stream),
    // The plugin requestLog writes one line for each request.
    logController: new LogController({ disableRequestLogging: true }),
    // The plugin bodyTimeout limits bodies except streams. headersTimeout depends on requestTimeout by default, so it is set here.
    requestTimeout: 0,
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    forceCloseConnections: "idle",
    serverFactory: (ownHandle, options) => createHttpServer(handle ?? ownHandle, options),
    clientErrorHandler: handleClientError,
  };
}

/** Loads plugins and routes in order. The server does not listen yet. */
export async function buildApp(config: Config, dependencies: AppDependencies): Promise<BuiltApp> {
  const { profiles, engine, shadow, context } = dependencies;
  const { metrics } = context.state;
  const compilers = new SchemaCompilers();
  const app = createApp(config, dependencies.stream, compilers);
  for (const schema of schemas) app.addSchema(schema);
  const decisions = new Decisions();
  const services = profiles.all.map(({ service }) => service);
  const unwatch = metrics.scans.watch(services, engine);
  app.addHook("onClose", async () => unwatch());
  decisions.listen((decision) => metrics.countDecision(decision));
  const graceMs = gracePeriodMs(config);
  if (config.tracing.exporter !== "none" || ["console", "otel_http"].includes(config.metrics.exporter)) {
    requirePackages("tracing.exporter or metrics.exporter", OPENTELEMETRY);
    // The OpenTelemetry SDK is loaded only if it is used.
    const { telemetry } = await import("./telemetry/plugin.ts");
    await app.register(telemetry, { config, metrics, graceMs });
  }
  const { maxBodySize, maxOpenBodies = defaultBodyBudget(maxBodySize) } = config.app;
  await app.register(jsonBody, { limit: { bytes: maxBodySize, setting: "app.max_body_size" } });
  await app.register(errors);
  await app.register(bodyTimeout, { timeoutMs: REQUEST_TIMEOUT_MS });
  await app.register(requestLog, { decisions, logContent: config.app.logContent });
  await app.register(httpMetrics, { registry: metrics.registry });
  await app.register(processMetrics, { registry: metrics.registry });
  await app.register(lifecycle, { graceMs, onClosed: () => profiles.close() });
  await app.register(headerChecks);
  await app.register(responseBatching);

  const links = redisLinks(app, metrics);
  const cache = dependencies.cacheOptions && (await createResultCache(dependencies.cacheOptions, links));

  await registerCallers(app, config, context, links);
  const audit = await registerAudit(app, config, dependencies, decisions);
  await app.register(unknownRoutes);
  const openBytes = Math.max(maxBodySize, shareOf(maxOpenBodies, context.pool?.size ?? 1));
  await app.register(openBodies, {
    budget: bodyBudget(openBytes, "app.max_open_bodies"),
    callerOf: (request) => callerOf(request).turn ?? "",
  });
  await app.register(profilesPlugin, { profiles });
  // A cached result costs nothing, and only the body tells whether there is one.
  if (!cache) await app.register(earlyLoadShedding);

  await app.register(openapi, { title: config.app.name, version, auth: config.auth ?? [] });
  await app.register(statusRoutes, { profiles, pool: context.pool, redis: links });
  if (shadow) {
    await app.register(shadowPlugin, { shadow, decisions, registry: metrics.registry, pool: context.pool });
  }
  await registerConsole(app, config, dependencies, { decisions, links });
  if (context.reload) await app.register(reloadRoute, { reload: context.reload });
  if (config.metrics.exporter === "prometheus") {
    await app.register(metricsRoute, { metrics, pool: context.pool, public: config.metrics.public });
  }
  const exceptions = await registerExceptions(app, config, dependencies, { links, audit });
  await registerReviews(app, config, dependencies, { links, audit, exceptions });
  await registerScanRoutes(app, config, dependencies, decisions, cache);
  return { app, exceptions, compileSchemas: () => compilers.compile(SCAN_URLS) };
}

/** Returns Fastify's option. A proxy is trusted by its address, or by its distance from this server. */
function trustedProxies(proxies: Config["app"]["trustProxy"]): NonNullable<FastifyServerOptions["trustProxy"]> {
  return typeof proxies === "number" ? (_address, distance) => distance < proxies : proxies;
}

function createApp(config: Config, stream: LogStream, compilers: SchemaCompilers): FastifyInstance {
  return fastify({
    ...listenerOptions(config, stream),
    trustProxy: trustedProxies(config.app.trustProxy),
    // The plugin lifecycle sends 503 as a problem.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    // By default Fastify would coerce types and remove unknown fields. The schemas are those of the program, so only a test checks them.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, validateSchema: false } },
    schemaController: { compilersFactory: compilers.factory },
    // Fastify's own reply to a path that cannot be decoded quotes the path.
    frameworkErrors: (_error, _request, reply) => void sendProblem(reply, new Problem(400, "The path is not valid.")),
  }) as unknown as FastifyInstance;
}

/** Connects to Redis when the app is ready, and disconnects when it closes. */
function redisLinks(app: FastifyInstance, metrics: ServerMetrics): RedisLinks {
  const links = new RedisLinks({ log: app.log, onFailure: (use) => metrics.countRedisFailure(use) });
  app.addHook("onReady", async () => {
    links.connect();
    metrics.watchRedis(() => links.states);
  });
  app.addHook("onClose", async () => links.close());
  return links;
}

/** Registers rate limits and authentication. Limits by address come first, limits by credential last. */
async function registerCallers(
  app: FastifyInstance,
  config: Config,
  { state }: ServerContext,
  links: RedisLinks,
): Promise<void> {
  const { rateLimit: settings, auth: entries = [] } = config;
  const { counters } = state.shared;
  const link = settings.enabled ? await links.link("rate_limit", settings.redis) : undefined;
  if (entries.length === 0) await app.register(sameOrigin, { allowedHosts: config.app.allowedHosts });
  if (settings.key === "ip") await app.register(rateLimit, { settings, link, counters });
  await app.register(auth, { entries, failures: settings.failures, counters });
  if (settings.key === "credential") await app.register(rateLimit, { settings, link, counters });
}

/** Registers the console and the routes that it reads. */
async function registerConsole(
  app: FastifyInstance,
  config: Config,
  { profiles, engine, context, source, warnings }: AppDependencies,
  { decisions, links }: { decisions: Decisions; links: RedisLinks },
): Promise<void> {
  const { state, pool } = context;
  const { app: settings, auth = [], conversation } = config;
  await app.register(rootRoute, { name: settings.name, auth, window: conversation.window });
  await app.register(profilesRoute, { profiles });
  await app.register(trafficPlugin, {
    ...{ traffic: state.traffic, shared: state.sharedTraffic, decisions, pool, logContent: settings.logContent },
    link: await links.link("traffic", config.traffic?.redis),
  });
  const { startedAt } = state.metrics;
  await app.register(configRoute, {
    config,
    profiles,
    engine,
    source,
    warnings,
    processes: pool?.size ?? 1,
    startedAt,
  });
}

async function registerAudit(
  app: FastifyInstance,
  config: Config,
  { stream, context }: AppDependencies,
  decisions: Decisions,
): Promise<Audit | undefined> {
  if (!config.audit) return undefined;
  const { metrics, shared } = context.state;
  const onLost = (error: Error) => {
    metrics.countLostAuditRecord();
    app.log.error({ reason: error.message }, "a decision could not be recorded in the audit log");
  };
  const audit = await openAudit({ settings: config.audit, config, stream, logs: shared.auditLogs, onLost });
  decisions.listen(audit.listener);
  app.addHook("onClose", async () => audit.close());
  return audit;
}

/** Opens the store of the exceptions of the run time, and registers their routes. */
async function registerExceptions(
  app: FastifyInstance,
  config: Config,
  { profiles, shadow, context, exceptionsKey }: AppDependencies,
  { links, audit }: { links: RedisLinks; audit: Audit | undefined },
): Promise<RunTimeExceptions> {
  const services = [...profiles.all.map(({ service }) => service), ...(shadow?.services ?? [])];
  const exceptions = new RunTimeExceptions({
    store: await createStore(config.exceptions, context.state.shared.exceptions, links, exceptionsKey),
    targets: services.flatMap((service) => service.exceptions ?? []),
    log: app.log,
    announce: async () => context.pool?.refreshExceptions(),
  });
  app.addHook("onReady", async () => exceptions.start());
  app.addHook("onClose", async () => exceptions.stop());
  await app.register(exceptionsPlugin, {
    ...{ exceptions, profiles, ...exceptionsKey },
    credentials: credentialNames(config.auth ?? []).flat(),
    record: async (event) => audit?.record(event),
  });
  return exceptions;
}

/** Opens the store of the texts in review, and registers the routes for decisions. */
async function registerReviews(
  app: FastifyInstance,
  { reviews: settings }: Config,
  { profiles, context: { state }, exceptionsKey }: AppDependencies,
  { links, audit, exceptions }: { links: RedisLinks; audit: Audit | undefined; exceptions: RunTimeExceptions },
): Promise<void> {
  const reviews = new Reviews({
    store: await createReviewStore(settings, state.shared.reviews, links, exceptionsKey),
    exceptions,
    key: exceptionsKey.key,
    lifetimes: { review: settings.expires * 1000, approval: settings.approvalExpires * 1000 },
    log: app.log,
    count: (...event) => state.metrics.reviews.count(...event),
    record: async (event) => audit?.record(event),
  });
  for (const { service } of profiles.all) service.reviewDesk = reviews;
  app.addHook("onReady", async () => state.metrics.reviews.watch(() => reviews.count()));
  await app.register(reviewsPlugin, { reviews });
}

async function registerScanRoutes(
  app: FastifyInstance,
  config: Config,
  { profiles, seal }: AppDependencies,
  decisions: Decisions,
  cache: ResultCache | undefined,
): Promise<void> {
  const { maxBodySize, maxStreamSize, streamIdleTimeout, scanPromptTimeout, scanOutputTimeout } = config.app;
  const unknownFields = new UnknownFields(config.app.unknownFields, app.log);
  const options = { decisions, profiles, seal, cache, unknownFields };
  await app.register(promptRoutes, options);
  await app.register(outputRoutes, options);
  await app.register(batchRoutes, { ...options, retryMs: scanPromptTimeout * 1000 });
  await app.register(outputStreamRoutes, {
    ...options,
    limits: { lineBytes: maxBodySize, totalBytes: maxStreamSize, idleMs: streamIdleTimeout * 1000 },
    graceMs: scanOutputTimeout * 1000,
  });
  await app.register(conversationRoutes, options);
  await app.register(documentsRoutes, options);
  await app.register(dialectRoutes, { decisions, profiles, seal, names: config.dialects });
}
