import {
  type Attributes,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
} from "@opentelemetry/api";
import { AnchoredClock, getBooleanFromEnv } from "@opentelemetry/core";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_NETWORK_PROTOCOL_VERSION,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from "@opentelemetry/semantic-conventions";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/index.ts";
import type { LoggedScans } from "../plugins/request-log.ts";
import type { ServerMetrics } from "../process/server-metrics.ts";
import { resourceOf } from "./collector.ts";
import { LossCounter } from "./loss-counter.ts";
import { exportMetrics } from "./metric-exports.ts";
import { scanSpans } from "./scan-spans.ts";
import { makeTraces, type Traces } from "./traces.ts";

export interface TelemetryOptions {
  config: Pick<Config, "tracing" | "metrics" | "app">;
  metrics: ServerMetrics;
  /** Milliseconds that the server has to close. */
  graceMs: number;
}

/** How long a closing server waits for the last export. */
const LAST_EXPORT_MS = 5000;

/**
 * Exports traces and metrics with OpenTelemetry. This module loads the SDK, so import it only if something is exported.
 *
 * `OTEL_SDK_DISABLED` turns it off. Register it before all other plugins: spans start with the request, and the last export follows the
 * end of everything else.
 */
export const telemetry = fp(async (app: FastifyInstance, { config, metrics, graceMs }: TelemetryOptions) => {
  if (getBooleanFromEnv("OTEL_SDK_DISABLED")) return;
  const losses = new LossCounter(app.log, metrics);
  const common = { resource: resourceOf(config.app.name), log: app.log, losses };
  const shutdowns: (() => Promise<void>)[] = [];

  if (config.tracing.exporter !== "none") {
    const traces = makeTraces(config.tracing, common);
    shutdowns.push(traces.shutdown);
    traceRequests(app, traces);
  }
  if (config.metrics.exporter === "console" || config.metrics.exporter === "otel_http") {
    shutdowns.push(exportMetrics(metrics, config.metrics, common));
  }

  // The hook preClose does not run for a server that never listened.
  let deadline = Number.POSITIVE_INFINITY;
  app.addHook("preClose", async () => {
    deadline = performance.now() + graceMs;
  });
  app.addHook("onClose", async () => {
    const timeoutMs = Math.max(0, Math.min(LAST_EXPORT_MS, deadline - performance.now()));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        app.log.warn("the last export of traces and metrics timed out");
        resolve();
      }, timeoutMs);
    });
    // A shutdown rejects if an export failed, which is counted and logged already.
    await Promise.race([timeout, Promise.allSettled(shutdowns.map((shutdown) => shutdown()))]);
    clearTimeout(timer);
  });
});

/**
 * Creates a span for each request, with the semantic conventions for HTTP servers. Public routes, such as probes and the console, have
 * none. Values that a client chooses freely are no attributes: unknown paths, queries, user agents.
 */
function traceRequests(app: FastifyInstance, { tracer, propagator }: Traces): void {
  app.decorateRequest("scanObserver", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.routeOptions.config.public) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const { name, attributes } = describeRequest(request);
      const clock = new AnchoredClock(Date, performance);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes, startTime: clock.now() }, parent);
      const { traceId, spanId } = span.spanContext();
      request.log = reply.log = request.log.child({ trace_id: traceId, span_id: spanId });
      if (span.isRecording()) {
        request.scanObserver = scanSpans(tracer, span, clock);
        endWithReply(span, clock, request, reply);
      }
    }
    done();
  });
}

/** The methods of RFC 9110 and RFC 5789; the semantic conventions call any other `_OTHER`. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]);

function describeRequest(request: FastifyRequest): { name: string; attributes: Attributes } {
  const isKnown = METHODS.has(request.method);
  const method = isKnown ? request.method : "HTTP";
  const common = {
    [ATTR_HTTP_REQUEST_METHOD]: isKnown ? method : "_OTHER",
    [ATTR_URL_SCHEME]: request.protocol,
    [ATTR_NETWORK_PROTOCOL_VERSION]: request.raw.httpVersion,
  };
  const route = request.is404 ? undefined : request.routeOptions.url;
  if (route === undefined) return { name: method, attributes: common };
  // Routes have no parameters, so the route is the path.
  return { name: `${method} ${route}`, attributes: { ...common, [ATTR_HTTP_ROUTE]: route, [ATTR_URL_PATH]: route } };
}

/** Ends the span of a request when its response is sent or its connection closes. */
function endWithReply(span: Span, clock: AnchoredClock, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const onFinish = () => end(true);
  const onClose = () => end(false);
  const end = (isSent: boolean) => {
    raw.off("finish", onFinish).off("close", onClose);
    const { scanLog } = request;
    if (scanLog) {
      const { valid, flagged, would_block, would_mask, cache } = scanLog as LoggedScans & { cache?: string };
      span.setAttributes({
        ...(valid === undefined ? {} : { "guard.valid": valid }),
        ...(flagged ? { "guard.flagged": flagged } : {}),
        ...(would_block ? { "guard.would_block": would_block } : {}),
        ...(would_mask ? { "guard.would_mask": would_mask } : {}),
        ...(cache ? { "guard.cache": cache } : {}),
      });
    }
    if (isSent) {
      const { statusCode } = raw;
      span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, statusCode);
      if (statusCode >= 500) {
        span.setAttribute(ATTR_ERROR_TYPE, String(statusCode));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    } else {
      span.setAttribute(ATTR_ERROR_TYPE, "client_closed");
    }
    span.end(clock.now());
  };
  raw.once("finish", onFinish).once("close", onClose);
}
