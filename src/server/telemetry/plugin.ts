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
import type { ServerMetrics } from "../process/server-metrics.ts";
import { resourceOf } from "./collector.ts";
import { Losses } from "./losses.ts";
import { exportMetrics } from "./metrics.ts";
import { scanSpans } from "./scan-spans.ts";
import { makeTraces, type Traces } from "./traces.ts";

/** What is exported, and what the server has to know for it. */
export interface TelemetryOptions {
  config: Pick<Config, "tracing" | "metrics" | "app">;
  metrics: ServerMetrics;
  /** Milliseconds that the server has to close. */
  graceMs: number;
}

/** The most milliseconds that the server waits, when it closes, for a collector to take what is left. */
const LAST_EXPORT = 5000;

/**
 * Traces and metrics by OpenTelemetry. Only a server that is configured to export something loads this file, and with it the SDK.
 *
 * `OTEL_SDK_DISABLED` turns it off, as in every service that uses the SDK. It must be registered before all other plugins: spans begin with the request, and what is left is exported when everything else
 * has ended.
 */
export const telemetry = fp(async (app: FastifyInstance, { config, metrics, graceMs }: TelemetryOptions) => {
  if (getBooleanFromEnv("OTEL_SDK_DISABLED")) return;
  const losses = new Losses(app.log, metrics);
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

  // A server that never began to listen closes without the first of these hooks.
  let cutAt = Number.POSITIVE_INFINITY;
  app.addHook("preClose", async () => {
    cutAt = performance.now() + graceMs;
  });
  app.addHook("onClose", async () => {
    const left = Math.max(0, Math.min(LAST_EXPORT, cutAt - performance.now()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        app.log.warn("the collector did not take the last traces and metrics in time");
        resolve();
      }, left);
    });
    // A shutdown rejects when an export fails, which was counted and logged then.
    await Promise.race([late, Promise.allSettled(shutdowns.map((shutdown) => shutdown()))]);
    clearTimeout(timer);
  });
});

/**
 * Makes a span for each request, as the semantic conventions for HTTP servers say. Probes, the page and the API's documentation
 * have none. What a client may fill with anything is in no attribute: paths that no route answers, queries, user agents.
 */
function traceRequests(app: FastifyInstance, { tracer, propagator }: Traces): void {
  app.decorateRequest("scanObserver", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.routeOptions.config.public) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const { name, attributes } = described(request);
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

function described(request: FastifyRequest): { name: string; attributes: Attributes } {
  const isKnown = METHODS.has(request.method);
  const method = isKnown ? request.method : "HTTP";
  const common = {
    [ATTR_HTTP_REQUEST_METHOD]: isKnown ? method : "_OTHER",
    [ATTR_URL_SCHEME]: request.protocol,
    [ATTR_NETWORK_PROTOCOL_VERSION]: request.raw.httpVersion,
  };
  const route = request.is404 ? undefined : request.routeOptions.url;
  if (route === undefined) return { name: method, attributes: common };
  // No route of the API has parameters, so that the route is the path.
  return { name: `${method} ${route}`, attributes: { ...common, [ATTR_HTTP_ROUTE]: route, [ATTR_URL_PATH]: route } };
}

/** Ends the span of a request when its reply was sent, or when its connection closed before. */
function endWithReply(span: Span, clock: AnchoredClock, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const onFinish = () => end(true);
  const onClose = () => end(false);
  const end = (isSent: boolean) => {
    raw.off("finish", onFinish).off("close", onClose);
    const { scanLog } = request;
    if (scanLog) {
      const { valid, flagged, cache } = scanLog as { valid: boolean; flagged: string[]; cache?: string };
      span.setAttributes({
        "guard.valid": valid,
        "guard.flagged": flagged,
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
