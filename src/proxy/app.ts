import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { AuthEntry, Config } from "../config/index.ts";
import { guardedFetch } from "../http-formats/guarded-fetch.ts";
import { auth } from "../http-server/callers/auth.ts";
import { handleClientError, httpServerFactory } from "../http-server/http-server.ts";
import { type LogStream, loggerOptions } from "../http-server/log.ts";
import { httpMetrics } from "../http-server/metrics/http-metrics.ts";
import { headerChecks } from "../http-server/plugins/header-checks.ts";
import { lifecycle } from "../http-server/plugins/lifecycle.ts";
import { Problem } from "../http-server/problem.ts";
import { requestId } from "../http-server/request-id.ts";
import { disconnectSignal } from "../support/disconnect.ts";
import { GuardError } from "../support/errors.ts";
import { readBody } from "./body.ts";
import { callLog, type ProxiedCall } from "./call-log.ts";
import { CallRecord } from "./call-record.ts";
import { proxyErrors } from "./errors.ts";
import { outgoing, replyHeaders, requestHeaders } from "./headers.ts";
import { isOwn, OWN_PATHS, ownRoutes } from "./own-routes.ts";
import { planOf } from "./plan.ts";
import { credentialHeaders, type ProxyGuard, type ProxySettings } from "./settings.ts";
import { UpstreamClient } from "./upstream-client.ts";
import { targetOf } from "./upstreams.ts";

/** The part of a configuration that the proxy itself looks at. */
export interface ProxyConfig {
  app: Pick<Config["app"], "logLevel" | "logJson" | "logContent">;
  /** Guard's own credentials, which clients show besides those of upstream. */
  auth?: readonly AuthEntry[] | undefined;
}

/** What a proxy is made of. */
export interface ProxyAppOptions {
  settings: ProxySettings;
  guard: ProxyGuard;
  config: ProxyConfig;
  logger: LogStream;
  /** Milliseconds that calls under way have when the proxy closes. */
  graceMs: number;
}

/**
 * Wires a proxy together. It does not listen yet.
 *
 * @throws GuardValidationError for credentials of guard's own in a header that is upstream's.
 */
export async function buildProxy({
  settings,
  guard,
  config,
  logger,
  graceMs,
}: ProxyAppOptions): Promise<FastifyInstance> {
  const { upstreams, pass, maxBodySize, maxAnswerSize, maxCalls, idleTimeout } = settings;
  const entries = config.auth ?? [];
  const ofGuard = credentialHeaders(entries);
  const client = new UpstreamClient(idleTimeout * 1000, maxAnswerSize);
  const ownPaths = OWN_PATHS.filter((path) => !pass.includes(path));
  const app = fastify({
    logger: loggerOptions(config.app as Config["app"], logger),
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 300_000,
    // The plugin lifecycle answers 503 in the format of the API.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: requestId,
    // One route takes all that is not guard's own, also what a router could not read: targetOf alone reads those paths.
    rewriteUrl({ method, url = "" }) {
      const path = url.split("?", 1)[0] as string;
      return method === "GET" && ownPaths.includes(path) ? path : "/";
    },
    serverFactory: httpServerFactory(),
    clientErrorHandler: handleClientError,
  }) as unknown as FastifyInstance;

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request: FastifyRequest, payload: IncomingMessage) =>
    request.proxied?.plan.kind === "guarded" ? readBody(payload, maxBodySize) : Promise.resolve(payload),
  );
  await app.register(proxyErrors);
  const running = new Set<FastifyRequest>();
  await app.register(callLog, { registry: guard.registry, running });
  await app.register(httpMetrics, { registry: guard.registry });
  const onClosed = async () => {
    client.close();
    await guard.close();
  };
  await app.register(lifecycle, { graceMs, onClosed });
  await app.register(headerChecks);
  await app.register(auth, { entries });
  await app.register(ownRoutes, { guard, paths: ownPaths });

  app.addHook("onRequest", async (request) => {
    if (isOwn(request)) return;
    const target = targetOf(upstreams, request.originalUrl);
    if (!target) throw new Problem(404, "guard has no upstream for this path.");
    const plan = planOf(request.raw, target, pass);
    if (plan.kind === "refused") throw new Problem(plan.status, plan.message);
    if (running.size > maxCalls) throw new GuardError("GUARD_OVERLOADED", "Too many calls are under way.");
    request.proxied = { target, plan, record: new CallRecord(config.app.logContent), isBroken: false };
  });

  app.all("/", async (request, reply) => {
    const { proxied, raw, method } = request as FastifyRequest & { proxied: ProxiedCall };
    const { target, plan, record } = proxied;
    const signal = disconnectSignal(reply.raw);
    const headers = requestHeaders(raw.rawHeaders, ofGuard);
    if (plan.kind === "passed") {
      const body = request.body as Readable | undefined;
      const answer = await client.send({ url: target.url, method, headers, body, signal });
      reply.code(answer.statusCode as number).headers(outgoing(replyHeaders(answer.rawHeaders)));
      return sendStream(reply, answer, proxied);
    }
    const send = guardedFetch(record.of(guard.guard), { fetch: client.fetch, onBlocked: "respond" });
    const body = method === "POST" ? (request.body as Buffer<ArrayBuffer> | undefined) : undefined;
    const answer = await send(target.url, { method, headers, ...(body ? { body } : {}), signal });
    reply.code(answer.status).headers(outgoing(answer.headers));
    if (!answer.body) return reply.send();
    return sendStream(reply, Readable.fromWeb(answer.body as NodeReadableStream<Uint8Array>), proxied);
  });
  return app;
}

/** Sends an answer as it arrives, and notes whether upstream breaks it off. The client's connection is cut then. */
function sendStream(reply: FastifyReply, answer: Readable, proxied: ProxiedCall): FastifyReply {
  answer.once("error", () => {
    proxied.isBroken = !reply.raw.destroyed;
  });
  return reply.send(answer);
}
