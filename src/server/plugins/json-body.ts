import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";
import { isIdentityEncoding, isUtf8 } from "../../support/media-type.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { readJson } from "../http/read-json.ts";

/** Takes bodies in JSON (RFC 8259), in UTF-8 and not compressed, and no others. */
export const jsonBody = fp(async (app: FastifyInstance) => {
  app.removeContentTypeParser("text/plain");
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    ({ headers }: FastifyRequest, body: Buffer, done) => {
      const slice = new TimeSlice();
      assertPlain(headers);
      const value = readJson(body, "The body");
      // A megabyte takes so long that what is done with it waits for the next turn.
      if (slice.isOver) void slice.next().then(() => done(null, value));
      else done(null, value);
    },
  );
});

/** @throws Problem 415 for a body that is compressed, or in another character set than UTF-8. */
export function assertPlain(headers: FastifyHeaders): void {
  if (!isIdentityEncoding(headers["content-encoding"])) {
    throw new Problem(415, "The body has an encoding that is not taken: send it as it is.");
  }
  if (!isUtf8(headers["content-type"])) throw new Problem(415, "The body must be in UTF-8.");
}

type FastifyHeaders = { "content-encoding"?: string | undefined; "content-type"?: string | undefined };
