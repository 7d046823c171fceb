import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { GuardError } from "../../support/errors.ts";
import type { BudgetShare, ByteBudget } from "../byte-budget.ts";
import { Problem } from "../problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body of the request in the budget of the server. It is undefined for requests without a body. */
    openBody: BudgetShare | undefined;
  }
}

export interface OpenBodiesOptions {
  budget: ByteBudget;
  /** Returns the caller of an authenticated request. */
  callerOf(request: FastifyRequest): string;
}

/** Counts the body of each request in the budget until its response is sent. */
export const openBodies = fp(async (app: FastifyInstance, { budget, callerOf }: OpenBodiesOptions) => {
  app.decorateRequest("openBody", undefined);
  app.addHook("preParsing", (request, reply, payload, done) => {
    const { "content-length": length, "transfer-encoding": coding } = request.headers;
    if (coding === undefined && !(Number(length) > 0)) return done(null, payload);
    try {
      const body = budget.open(callerOf(request), Number(length ?? 0));
      request.openBody = body;
      reply.raw.once("close", body.release).once("finish", body.release);
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });
});

/** The limit of one body, and the setting that makes it. */
export interface BodyLimit {
  bytes: number;
  setting: string;
}

/**
 * Reads a whole body. A body that announces a length beyond the limit is refused before it is read.
 *
 * @throws GuardError `GUARD_ABORTED` if the client leaves, Problem 413 for a body above the limit, and 503 beyond the budget of all bodies. No more than that is held in memory.
 */
export function readBody(request: FastifyRequest, payload: Readable, limit: BodyLimit): Promise<Buffer> {
  const { openBody, headers } = request;
  if (Number(headers["content-length"]) > limit.bytes) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => payload.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
    const fail = (error: Error) => {
      stop();
      chunks.length = 0;
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit.bytes) return fail(tooLarge(limit));
      try {
        openBody?.add(chunk.length);
      } catch (error) {
        return fail(error as Error);
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      stop();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    };
    const onClose = () => fail(new GuardError("GUARD_ABORTED", "The client closed the connection."));
    payload.on("data", onData).once("end", onEnd).once("error", onClose).once("close", onClose);
  });
}

function tooLarge({ bytes, setting }: BodyLimit): Problem {
  return new Problem(413, `The body has more than ${bytes} bytes (${setting}).`, { headers: { connection: "close" } });
}
