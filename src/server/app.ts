import type { RequestListener, Server } from "node:http";
import fastify, { type FastifyBaseLogger, type FastifyHttpOptions, type FastifyInstance, LogController } from "fastify";
import type { Config } from "../config/index.ts";
import { auth } from "../http-server/callers/auth.ts";
import { answerUnreadable, httpServer } from "../http-server/http-server.ts";
import { type LogStream, loggerOptions } from "../http-server/log.ts";
import { httpMetrics } from "../http-server/metrics/http-metrics.ts";
import { headerChecks } from "../http-server/plugins/header-checks.ts";
import { lifecycle } from "../http-server/plugins/lifecycle.ts";
import { Problem } from "../http-server/problem.ts";
import { requestId } from "../http-server/request-id.ts";
import type { Engine } from "../models/engine.ts";
import { OPENTELEMETRY, requirePackages } from "../support/optional-packages.ts";
import { version } from "../support/version.ts";
import { type Caching, makeResultCache } from "./cache/make-cache.ts";
import { type Profiles, profilesPlugin } from "./callers/profiles.ts";
import { makeAudit } from "./decisions/audit.ts";
import { Decisions } from "./decisions/decisions.ts";
import { dialectRoutes } from "./dialects/dialect-routes.ts";
import { compilersFactory } from "./http/compilers.ts";
import { answersTogether } from "./plugins/answers-together.ts";
import { bodyTimeout } from "./plugins/body-timeout.ts";
import { earlyRefusal } from "./plugins/early-refusal.ts";
import { errors, send } from "./plugins/errors.ts";
import { jsonBody } from "./plugins/json-body.ts";
import { noRoute } from "./plugins/no-route.ts";
import { openapi } from "./plugins/openapi.ts";
import { processMetrics } from "./plugins/process-metrics.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { requestLog } from "./plugins/request-log.ts";
import type { Host } from "./process/process-state.ts";
import { RedisLinks } from "./redis/redis-link.ts";
import { batchRoutes } from "./routes/batch.ts";
import { conversationRoutes } from "./routes/conversation.ts";
import { documentsRoutes } from "./routes/documents.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { outputRoutes } from "./routes/output.ts";
import { outputStreamRoutes } from "./routes/output-stream.ts";
import { promptRoutes } from "./routes/prompt.ts";
import { reloadRoute } from "./routes/reload.ts";
import { rootRoute } from "./routes/root.ts";
import { statusRoutes } from "./routes/status.ts";
import { schemas } from "./schemas/index.ts";
import { shadowPlugin } from "./shadow/plugin.ts";
import type { Shadow } from "./shadow/shadow.ts";
import type { VaultSeal } from "./vault/vault-seal.ts";

/**
 * How many milliseconds running requests have to finish when the server closes. Scans end within their timeouts, and five more
 * seconds are for receiving bodies and sending answers. Connections that are still busy after that are cut.
 */
export function graceOf({ app }: Config): number {
  return Math.max(app.scanPromptTimeout, app.scanOutputTimeout) * 1000 + 5000;
}

/** The most milliseconds that the headers of a request may take, and its body. */
const REQUEST_TIMEOUT = 60_000;

/** Of what a server is made besides its configuration. */
export interface Parts {
  profiles: Profiles;
  seal: VaultSeal;
  /** Where log lines go. */
  stream: LogStream;
  engine: Engine;
  caching: Caching | undefined;
  /** What judges a share of the requests again, where there is such a thing. */
  shadow?: Shadow | undefined;
  host: Host;
}

/**
 * How a server logs and listens.
 *
 * @param handle is handed the requests, in the place of the server itself.
 */
export function listening(
  config: Config,
  stream: LogStream,
  handle?: RequestListener,
): FastifyHttpOptions<Server, FastifyBaseLogger> {
  const serverFor = httpServer();
  return {
    logger: loggerOptions(config.app, stream),
    // The plugin requestLog writes one line for each request.
    logController: new LogController({ disableRequestLogging: true }),
    // The plugin bodyTimeout limits bodies, except those of streams. Without a limit of its own for headers, Node.js would have none.
    requestTimeout: 0,
    http: { headersTimeout: REQUEST_TIMEOUT },
    forceCloseConnections: "idle",
    serverFactory: (own, options) => serverFor(handle ?? own, options),
    clientErrorHandler: answerUnreadable,
  };
}

/** Wires the server together: it loads plugins and routes in their order, and holds no logic. It does not listen yet. */
export async function buildApp(
  config: Config,
  { profiles, seal, stream, engine, caching, shadow, host }: Parts,
): Promise<FastifyInstance> {
  const entries = config.auth ?? [];
  const { metrics, kept } = host.lasting;
  const { counters, auditLogs } = kept;
  const app = fastify({
    ...listening(config, stream),
    bodyLimit: config.app.maxBodySize,
    trustProxy: config.app.trustProxy,
    // The plugin lifecycle answers 503 as a problem.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    // By default Fastify would convert numbers to strings and drop fields that it does not know.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    schemaController: { compilersFactory },
    // A path that cannot be decoded has no route. Fastify's own answer would quote it.
    frameworkErrors: (_error, _request, reply) => void send(reply, new Problem(400, "The path is not valid.")),
  }) as unknown as FastifyInstance;

  for (const schema of schemas) app.addSchema(schema);
  const decisions = new Decisions();
  const services = profiles.all.map(({ service }) => service);
  const unwatch = metrics.scans.watch(services, engine);
  app.addHook("onClose", async () => unwatch());
  decisions.listen((decision) => metrics.countDecision(decision));
  const graceMs = graceOf(config);
  if (config.tracing.exporter !== "none" || ["console", "otel_http"].includes(config.metrics.exporter)) {
    requirePackages("tracing.exporter or metrics.exporter", OPENTELEMETRY);
    // The SDK of OpenTelemetry takes time and memory to load.
    const { telemetry } = await import("./telemetry/plugin.ts");
    await app.register(telemetry, { config, metrics, graceMs });
  }
  await app.register(jsonBody);
  await app.register(errors);
  await app.register(bodyTimeout, { arrival: REQUEST_TIMEOUT });
  await app.register(requestLog, { decisions, logContent: config.app.logContent });
  await app.register(httpMetrics, { registry: metrics.registry });
  await app.register(processMetrics, { registry: metrics.registry });
  await app.register(lifecycle, { graceMs, onClosed: () => profiles.close() });
  await app.register(headerChecks);
  await app.register(answersTogether);

  const links = new RedisLinks({ log: app.log, onFailure: (use) => metrics.countRedisFailure(use) });
  app.addHook("onReady", async () => links.connect());
  app.addHook("onClose", async () => links.close());
  const cache = caching && (await makeResultCache(caching, links));

  const { rateLimit: limits } = config;
  const limiting = { settings: limits, link: limits.enabled ? await links.link(limits.redis) : undefined, counters };
  if (limits.key === "ip") await app.register(rateLimit, limiting);
  await app.register(auth, { entries, failures: limits.failures, counters });
  if (limits.key === "credential") await app.register(rateLimit, limiting);

  if (config.audit) {
    const lost = (error: Error) => {
      metrics.countLostAuditRecord();
      app.log.error({ reason: error.message }, "a decision could not be recorded in the audit log");
    };
    const audit = await makeAudit({ settings: config.audit, config, stream, logs: auditLogs, onLost: lost });
    decisions.listen(audit.listener);
    app.addHook("onClose", async () => audit.close());
  }
  await app.register(noRoute);
  await app.register(profilesPlugin, { profiles });
  // An answer that is kept costs nothing, whatever waits, and only its body tells which one it is.
  if (!cache) await app.register(earlyRefusal);

  const { name } = config.app;
  await app.register(openapi, { title: name, version, auth: entries });
  await app.register(rootRoute, { name, auth: entries, window: config.conversation.window });
  await app.register(statusRoutes, { profiles, together: host.together });
  if (shadow)
    await app.register(shadowPlugin, { shadow, decisions, registry: metrics.registry, together: host.together });
  if (host.reload) await app.register(reloadRoute, { reload: host.reload });
  if (config.metrics.exporter === "prometheus") {
    await app.register(metricsRoute, { metrics, together: host.together, public: config.metrics.public });
  }
  const scanning = { decisions, profiles, seal, cache };
  await app.register(promptRoutes, scanning);
  await app.register(outputRoutes, scanning);
  await app.register(batchRoutes, { ...scanning, patience: config.app.scanPromptTimeout * 1000 });
  const { maxBodySize, maxStreamSize, streamIdleTimeout, scanOutputTimeout } = config.app;
  await app.register(outputStreamRoutes, {
    ...scanning,
    limits: { lineBytes: maxBodySize, totalBytes: maxStreamSize, idle: streamIdleTimeout * 1000 },
    graceMs: scanOutputTimeout * 1000,
  });
  await app.register(conversationRoutes, scanning);
  await app.register(documentsRoutes, scanning);
  await app.register(dialectRoutes, { decisions, seal, names: config.dialects });
  return app;
}
