import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { AuthEntry, Config } from "../config/index.ts";
import { guardedFetch } from "../http-formats/guarded-fetch.ts";
import { ByteBudget, bodyBudget, defaultBodyBudget } from "../http-server/byte-budget.ts";
import { addressOf } from "../http-server/callers/address.ts";
import { auth } from "../http-server/callers/auth.ts";
import { handleClientError, httpServerFactory } from "../http-server/http-server.ts";
import { type LogStream, loggerOptions } from "../http-server/log.ts";
import { httpMetrics } from "../http-server/metrics/http-metrics.ts";
import { headerChecks } from "../http-server/plugins/header-checks.ts";
import { lifecycle } from "../http-server/plugins/lifecycle.ts";
import { openBodies, readBody } from "../http-server/plugins/open-bodies.ts";
import { sameOrigin } from "../http-server/plugins/same-origin.ts";
import { Problem } from "../http-server/problem.ts";
import { requestId } from "../http-server/request-id.ts";
import { disconnectSignal } from "../support/disconnect.ts";
import { GuardError } from "../support/errors.ts";
import { callLog, type ProxiedCall } from "./call-log.ts";
import { announcesBody, planCall } from "./call-plan.ts";
import { CallRecord } from "./call-record.ts";
import { proxyErrors } from "./errors.ts";
import { nodeHeaders, replyHeaders, requestHeaders } from "./headers.ts";
import { isOwnRoute, OWN_PATHS, ownRoutes } from "./own-routes.ts";
import { credentialHeaders, type ProxyGuard, type ProxySettings } from "./settings.ts";
import { answerFault, UpstreamClient } from "./upstream-client.ts";
import { findTarget } from "./upstreams.ts";

/** The part of a configuration that the proxy itself uses. */
export interface ProxyConfig {
  app: Pick<Config["app"], "logLevel" | "logJson" | "logContent"> & Partial<Pick<Config["app"], "allowedHosts">>;
  /** Credentials of guard, which clients send besides those of the upstream. */
  auth?: readonly AuthEntry[] | undefined;
}

export interface ProxyAppOptions {
  settings: ProxySettings;
  guard: ProxyGuard;
  config: ProxyConfig;
  logger: LogStream;
  /** Milliseconds that calls in progress may take when the proxy closes. */
  graceMs: number;
}

/**
 * Creates a proxy, which does not listen yet.
 *
 * @throws GuardValidationError for a credential of guard in a header of the upstream.
 */
export async function buildProxy(options: ProxyAppOptions): Promise<FastifyInstance> {
  const { settings, guard, config, graceMs } = options;
  const entries = config.auth ?? [];
  const guardHeaders = credentialHeaders(entries);
  const client = new UpstreamClient({ idleTimeoutMs: settings.idleTimeout * 1000, maxBytes: settings.maxAnswerSize });
  const ownPaths = OWN_PATHS.filter((path) => !settings.pass.includes(path));
  const app = createApp(options, ownPaths);
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
  if (entries.length === 0 && !settings.isPublic) {
    await app.register(sameOrigin, { allowedHosts: config.app.allowedHosts ?? [] });
  }
  await app.register(auth, { entries });
  await app.register(openBodies, {
    budget: bodyBudget(settings.maxOpenBodies ?? defaultBodyBudget(settings.maxBodySize), "--max-bodies"),
    callerOf: turnOf,
  });
  await app.register(ownRoutes, { guard, paths: ownPaths });
  app.addHook("onRequest", async (request) => {
    if (!isOwnRoute(request)) request.proxied = admitCall(request, options, running.size);
  });
  const forwarding = { guard, client, guardHeaders, answers: answerBudget(settings.maxOpenAnswers) };
  app.all("/", (request, reply) =>
    forwardCall(request as FastifyRequest & { proxied: ProxiedCall }, reply, forwarding),
  );
  return app;
}

function createApp({ settings, config, logger }: ProxyAppOptions, ownPaths: readonly string[]): FastifyInstance {
  const app = fastify({
    logger: loggerOptions(config.app as Config["app"], logger),
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 300_000,
    // The plugin lifecycle sends 503 in the format of the API.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: requestId,
    // One route handles all calls, including paths that a router could not parse: only findTarget parses them.
    rewriteUrl({ method, url = "" }) {
      const path = url.split("?", 1)[0] as string;
      return method === "GET" && ownPaths.includes(path) ? path : "/";
    },
    serverFactory: httpServerFactory(),
    clientErrorHandler: handleClientError,
  }) as unknown as FastifyInstance;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request: FastifyRequest, payload: IncomingMessage) =>
    request.proxied?.plan.kind === "guarded"
      ? readBody(request, payload, { bytes: settings.maxBodySize, setting: "--max-body" })
      : Promise.resolve(payload),
  );
  return app;
}

/**
 * Decides what to do with a call.
 *
 * @throws Problem for a call that is refused; GuardError `GUARD_OVERLOADED` for too many calls.
 */
function admitCall(
  request: FastifyRequest,
  { settings: { upstreams, pass, maxCalls }, config }: ProxyAppOptions,
  running: number,
): ProxiedCall {
  const target = findTarget(upstreams, request.originalUrl);
  if (!target) throw new Problem(404, "guard has no upstream for this path.");
  const { method, headers } = request.raw;
  const plan = planCall({ method, hasBody: announcesBody(headers) }, target, pass);
  if (plan.kind === "refused") throw new Problem(plan.status, plan.message);
  if (running > maxCalls) throw new GuardError("GUARD_OVERLOADED", "Too many calls are in progress.");
  return { target, plan, record: new CallRecord(config.app.logContent), isBroken: false };
}

interface Forwarding {
  guard: ProxyGuard;
  client: UpstreamClient;
  /** Headers with credentials of guard, which are not forwarded. */
  guardHeaders: readonly string[];
  /** The memory for answers. */
  answers: ByteBudget;
}

/** The caller whose requests and answers share a budget. */
function turnOf(request: FastifyRequest): string {
  return request.credential?.id ?? addressOf(request);
}

function answerBudget(maxBytes: number): ByteBudget {
  const message = `The answers in progress would take more than ${maxBytes} bytes (--max-answers).`;
  return new ByteBudget(maxBytes, () => new GuardError("GUARD_OVERLOADED", message, { retryAfter: 1 }));
}

/** Sends a call to its upstream, and the response to the client. */
async function forwardCall(
  request: FastifyRequest & { proxied: ProxiedCall },
  reply: FastifyReply,
  { guard, client, guardHeaders, answers }: Forwarding,
): Promise<FastifyReply> {
  const { proxied, raw, method, body: requestBody } = request;
  const { target, plan, record } = proxied;
  const signal = disconnectSignal(reply.raw);
  const headers = requestHeaders(raw.rawHeaders, guardHeaders);
  if (plan.kind === "passed") {
    const body = requestBody as Readable | undefined;
    const response = await client.send({ url: target.url, method, headers, body, signal });
    const { statusCode = 0, headers: received } = response;
    // Its encoding does not matter, because guard does not read it.
    const fault = answerFault(statusCode, { location: received.location, encoding: undefined });
    if (fault !== undefined) {
      response.destroy();
      throw new GuardError("GUARD_UPSTREAM", fault);
    }
    reply.code(response.statusCode as number).headers(nodeHeaders(replyHeaders(response.rawHeaders)));
    return sendStream(reply, response, proxied);
  }
  const answer = answers.open(turnOf(request), 0);
  reply.raw.once("finish", answer.release);
  signal.addEventListener("abort", answer.release, { once: true });
  const guardedSend = guardedFetch(record.observe(guard.guard, request.credential?.name), {
    fetch: client.fetch,
    onBlocked: "respond",
    onBuffered: answer.resize,
  });
  const body = method === "POST" ? (requestBody as Buffer<ArrayBuffer> | undefined) : undefined;
  const response = await guardedSend(target.url, { method, headers, ...(body ? { body } : {}), signal });
  reply.code(response.status).headers({ ...nodeHeaders(response.headers), ...record.headers });
  if (!response.body) return reply.send();
  return sendStream(reply, Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>), proxied);
}

/** Streams a response. If the upstream breaks off the response, this is recorded, and the client's connection is destroyed. */
function sendStream(reply: FastifyReply, response: Readable, proxied: ProxiedCall): FastifyReply {
  response.once("error", () => {
    proxied.isBroken = !reply.raw.destroyed;
  });
  return reply.send(response);
}
