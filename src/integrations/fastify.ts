// The public surface of `guard-scan/fastify`.
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { GuardBlockedError } from "../guard/blocked-error.ts";
import type { GuardedCall } from "../guard/guard.ts";
import { disconnectSignal } from "../support/disconnect.ts";
import {
  blockedReply,
  checkAnswer,
  checkInput,
  checkRouteOptions,
  endText,
  type HttpGuardOptions,
  httpError,
  type RouteGuardOptions,
} from "./parts/http-guard.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export { type BlockedReply, GuardHttpError, type RouteGuardOptions } from "./parts/http-guard.ts";

/** Options of the plugin. Each can be overridden by a route (`config.guard`). */
export type GuardFastifyOptions = HttpGuardOptions<FastifyRequest>;

declare module "fastify" {
  interface FastifyRequest {
    /** The guarded call of this request. Its checks are aborted if the client disconnects. */
    guard: GuardedCall;
  }
  interface FastifyReply {
    /**
     * Checks an answer and sends it: a text, a stream of text, or an object with a text at the path `output`. If it is blocked, the reply
     * of `onBlocked` is sent.
     */
    sendGuarded(answer: unknown): Promise<FastifyReply>;
  }
  interface FastifyContextConfig {
    /** Overrides of the plugin's options for this route; `false` checks no input. */
    guard?: RouteGuardOptions<FastifyRequest> | false;
  }
}

/**
 * A plugin for Fastify 5. Requests have `request.guard`, replies `reply.sendGuarded`, and routes with `input` get a checked and sanitized
 * body before the handler runs. Errors of guard have a `statusCode` for Fastify's error handler.
 *
 * @throws GuardValidationError if the plugin or a route has invalid options.
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
        await checkInput(request.guard, request, options);
      } catch (error) {
        return sendError(error, request, reply, options);
      }
    });

    app.decorateReply("sendGuarded", async function (this: FastifyReply, answer: unknown) {
      const options = optionsOf(this.request);
      try {
        const checked = await checkAnswer(this.request.guard, answer, {
          output: options.output,
          signal: signals.get(this.request) as AbortSignal,
          endOf: (error) => endText(error, this.request, options),
        });
        if ("value" in checked) return this.send(checked.value);
        if (!this.hasHeader("content-type")) this.type("text/plain; charset=utf-8");
        return this.send(Readable.from(checked.pieces, { objectMode: false }));
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
  // The response schema of the route does not fit this body.
  if (typeof body !== "string") reply.serializer((value: unknown) => JSON.stringify(value));
  if (typeof body !== "string" && !reply.hasHeader("content-type")) reply.type("application/json; charset=utf-8");
  return reply.send(body);
}
