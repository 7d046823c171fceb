import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { type BodyLimit, readBody } from "../../http-server/plugins/open-bodies.ts";
import { Problem } from "../../http-server/problem.ts";
import { isIdentityEncoding, isUtf8 } from "../../support/media-type.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { readJson } from "../http/read-json.ts";

/** Accepts only JSON bodies (RFC 8259) in UTF-8, uncompressed. */
export const jsonBody = fp(async (app: FastifyInstance, { limit }: { limit: BodyLimit }) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", async (request: FastifyRequest, payload: IncomingMessage) => {
    assertPlain(request.headers);
    const body = await readBody(request, payload, limit);
    const slice = new TimeSlice();
    const value = readJson(body, "The body");
    // Parsing a megabyte uses up this turn of the event loop, so the handler runs in the next one.
    if (slice.isOver) await slice.next();
    return value;
  });
});

/** @throws Problem 415 for a body that is compressed, or in another character set than UTF-8. */
export function assertPlain(headers: FastifyHeaders): void {
  if (!isIdentityEncoding(headers["content-encoding"])) {
    throw new Problem(415, "The encoding of the body is not supported: send it uncompressed.");
  }
  if (!isUtf8(headers["content-type"])) throw new Problem(415, "The body must be in UTF-8.");
}

type FastifyHeaders = { "content-encoding"?: string | undefined; "content-type"?: string | undefined };
