// The public surface of `guard-scan/fastify`.
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { GuardBlockedError } from "../guard/blocked-error.ts";
import type { GuardedCall } from "../guard/guard.ts";
import { disconnectSignal } from "../support/disconnect.ts";
import {
  blockedReply,
  checkRouteOptions,
  endText,
  type HttpGuardOptions,
  httpError,
  judgeAnswer,
  judgeInput,
  type RouteGuardOptions,
} from "./parts/http-guard.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export { type BlockedReply, GuardHttpError, type RouteGuardOptions } from "./parts/http-guard.ts";

/** Options of the plugin. Those of a route (`config.guard`) take the place of these one by one. */
export type GuardFastifyOptions = HttpGuardOptions<FastifyRequest>;

declare module "fastify" {
  interface FastifyRequest {
    /** The guarded call of this request. Its checks end when the client goes away. */
    guard: GuardedCall;
  }
  interface FastifyReply {
    /**
     * Judges an answer and sends it: a text, a stream of text, or an object with a text at the path `output`. When it is blocked, the
     * reply is that of `onBlocked`.
     */
    sendGuarded(answer: unknown): Promise<FastifyReply>;
  }
  interface FastifyContextConfig {
    /** What guard judges on this route, where it differs from the options of the plugin; `false` judges no input. */
    guard?: RouteGuardOptions<FastifyRequest> | false;
  }
}

/**
 * A plugin of Fastify 5. Every request gets `request.guard`, every reply `reply.sendGuarded`, and routes with `input` get a body that
 * was judged and sanitized before the handler runs. Errors of guard are thrown with `statusCode`, for Fastify's error handler.
 *
 * @throws GuardValidationError when the plugin or a route is added whose options are wrong.
 */
export const guardFastify = fp<GuardFastifyOptions>(
  async (app: FastifyInstance, { guard, ...common }: GuardFastifyOptions) => {
    const optionsOf = (request: FastifyRequest): RouteGuardOptions<FastifyRequest> => ({
      ...common,
      ...(request.routeOptions.config.guard || {}),
    });
    checkRouteOptions(common);
    app.addHook("onRoute", ({ config }) => checkRouteOptions({ ...common, ...(config?.guard || {}) }));

    app.decorateRequest("guard", null as unknown as GuardedCall);
    const signals = new WeakMap<FastifyRequest, AbortSignal>();
    app.addHook("onRequest", async (request, reply) => {
      const signal = disconnectSignal(reply.raw);
      signals.set(request, signal);
      const { suppress } = optionsOf(request);
      request.guard = guard.call({ signal, ...(suppress ? { suppress } : {}) });
    });

    app.addHook("preHandler", async (request, reply) => {
      if (request.is404 || request.routeOptions.config.guard === false) return;
      const options = optionsOf(request);
      try {
        await judgeInput(request.guard, request, options);
      } catch (error) {
        return sendError(error, request, reply, options);
      }
    });

    app.decorateReply("sendGuarded", async function (this: FastifyReply, answer: unknown) {
      const options = optionsOf(this.request);
      try {
        const judged = await judgeAnswer(this.request.guard, answer, {
          output: options.output,
          signal: signals.get(this.request) as AbortSignal,
          endOf: (error) => endText(error, this.request, options),
        });
        if ("value" in judged) return this.send(judged.value);
        if (!this.hasHeader("content-type")) this.type("text/plain; charset=utf-8");
        return this.send(Readable.from(judged.pieces, { objectMode: false }));
      } catch (error) {
        return sendError(error, this.request, this, options);
      }
    });
  },
  { name: "guard-scan", fastify: "5.x" },
);

async function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RouteGuardOptions<FastifyRequest>,
): Promise<FastifyReply> {
  if (!(error instanceof GuardBlockedError)) throw httpError(error);
  const { status, headers, body } = await blockedReply(error, request, options);
  reply.code(status).headers(headers);
  // A route may have a schema for its answers, which is not that of a problem.
  if (typeof body !== "string") reply.serializer((value: unknown) => JSON.stringify(value));
  if (typeof body !== "string" && !reply.hasHeader("content-type")) reply.type("application/json; charset=utf-8");
  return reply.send(body);
}
