import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import fastify, { type FastifyInstance, LogController } from "fastify";
import type { Config } from "../config/index.ts";
import { version } from "../version.ts";
import { type LogStream, loggerOptions } from "./log.ts";
import { auth } from "./plugins/auth.ts";
import { errors, send } from "./plugins/errors.ts";
import { Metrics, metrics as metricsPlugin } from "./plugins/metrics.ts";
import { openapi } from "./plugins/openapi.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { requestLog } from "./plugins/request-log.ts";
import { Problem, problemBody } from "./problem.ts";
import { scanRoutes } from "./routes/scans.ts";
import { statusRoutes } from "./routes/status.ts";
import { closingProblem, type ScanService } from "./scan-service.ts";
import type { VaultSeal } from "./vault-seal.ts";

/** Milliseconds between the last answer, when the server closes, and the end of all connections. */
const LAST_BYTES = 100;

/** Milliseconds that requests under way have when the server closes: scans end within their timeouts. What is busy then is cut. */
export function graceOf({ app }: Config): number {
  return Math.max(app.scanPromptTimeout, app.scanOutputTimeout) * 1000 + 5000;
}

/** Wires the server together; it does not listen yet. */
export async function buildApp(
  config: Config,
  service: ScanService,
  seal: VaultSeal,
  stream: LogStream,
): Promise<FastifyInstance> {
  const entries = config.auth ?? [];
  const app = fastify({
    logger: loggerOptions(config.app, stream),
    // One line a request is ours.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.app.maxBodySize,
    trustProxy: config.app.trustProxy,
    requestTimeout: 60_000,
    // Ours says it as a problem.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: ({ headers }) => {
      const id = headers["x-request-id"];
      return typeof id === "string" && /^[\w.:-]{1,128}$/.test(id) ? id : randomUUID();
    },
    // Fastify would otherwise turn numbers into strings and drop fields.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    // A path that cannot be decoded has no route, and Fastify's own answer quotes it.
    frameworkErrors: (_error, _request, reply) => void send(reply, new Problem(400, "The path is not valid.")),
    clientErrorHandler(error, socket) {
      if (error.code !== "ECONNRESET" && socket.writable) socket.write(rawProblem(error.code));
      // Whoever does not hang up must not keep the connection.
      socket.destroySoon();
    },
  }) as unknown as FastifyInstance;
  app.removeContentTypeParser("text/plain");
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // Fastify puts U+FFFD in place of what is not UTF-8: another text would be scanned than the one that was sent.
    const { "content-encoding": encoding = "identity" } = request.headers;
    if (encoding !== "identity")
      done(new Problem(415, "The body has an encoding that is not taken: send it as it is."));
    else if (isUtf8(body)) parseJson(request, body.toString(), done);
    else done(new Problem(400, "The body is not valid UTF-8."));
  });

  await app.register(errors);
  await app.register(requestLog);
  const metrics = new Metrics(service);
  await app.register(metricsPlugin, { metrics });

  let closing = false;
  let closedBy = 0;
  /** Answers that are not out yet. Scans are no measure: some go on when their client has its answer. */
  const underWay = new Set<ServerResponse>();
  let onAllAnswered = () => {};
  // A connection that has never sent anything is not idle to Node, which would wait for it; nor is one that is accepted only now.
  const hangUp = () => {
    if (underWay.size > 0) return;
    app.server.on("connection", (socket) => socket.destroy());
    app.server.closeAllConnections();
  };
  app.addHook("preClose", async () => {
    closing = true;
    setTimeout(hangUp, LAST_BYTES);
    closedBy = performance.now() + graceOf(config);
  });
  // For localhost Fastify opens a server per address and waits for the requests of the first one only.
  app.addHook("onClose", async () => {
    if (underWay.size > 0) {
      await new Promise<void>((resolve) => {
        const cut = setTimeout(() => {
          for (const response of underWay) response.destroy();
          resolve();
        }, closedBy - performance.now());
        onAllAnswered = () => {
          clearTimeout(cut);
          resolve();
        };
      });
    }
    await service.close();
  });
  app.addHook("onRequest", async (_request, reply) => {
    const { raw } = reply;
    underWay.add(raw);
    const onAnswered = () => {
      underWay.delete(raw);
      if (underWay.size > 0) return;
      onAllAnswered();
      if (closing) setTimeout(hangUp, LAST_BYTES);
    };
    raw.once("finish", onAnswered).once("close", onAnswered);
    if (closing) return send(reply, closingProblem());
  });

  // A connection that is kept alive would keep the server from closing.
  app.addHook("onSend", async (_request, reply) => {
    if (closing) reply.header("connection", "close");
  });

  const { rateLimit: limits } = config;
  if (limits.enabled && limits.key === "ip") await app.register(rateLimit, limits);
  await app.register(auth, { entries });
  if (limits.enabled && limits.key === "credential") await app.register(rateLimit, limits);

  await app.register(openapi, { title: config.app.name, version, auth: entries });
  await app.register(statusRoutes, {
    name: config.app.name,
    service,
    publicMetrics: config.metrics.public,
    ...(config.metrics.exporter === "prometheus" ? { metrics } : {}),
  });
  const { maxMessages, logContent } = config.app;
  await app.register(scanRoutes, { service, metrics, seal, maxMessages, logContent });
  return app;
}

/** The answer to what is not HTTP, where there is no request yet. */
function rawProblem(code: string): string {
  const status = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[code] ?? 400;
  const problem = problemBody(new Problem(status, "This is not a request that can be read."));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${problem.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
