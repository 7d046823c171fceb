import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../problem.ts";

/**
 * Refuses requests whose headers cannot be followed: without one host or with several (RFC 9112, section 3.2), with an expectation that
 * nobody knows (RFC 9110, section 10.1.1), and with a coding of the body besides `chunked` (RFC 9112, section 6.1). Node.js refuses the
 * others.
 */
export const headerChecks = fp(async (app: FastifyInstance) => {
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, rawHeaders, headers } = request.raw;
    if (httpVersion === "1.1" && headers.host === undefined)
      return done(new Problem(400, "The header Host is missing."));
    if (count(rawHeaders, "host") > 1) return done(new Problem(400, "The header Host is there more than once."));
    const { expect, "transfer-encoding": coding } = headers;
    if (expect !== undefined && !/^100-continue$/i.test(expect)) {
      return done(new Problem(417, "Of expectations, only 100-continue is met."));
    }
    if (coding !== undefined && !/^chunked$/i.test(coding)) {
      return done(
        new Problem(501, "Of transfer codings, only chunked is taken.", { headers: { connection: "close" } }),
      );
    }
    done();
  });
});

/** How often a header is there. Names and values stand one after another. */
function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string;
    if (header.length === name.length && header.toLowerCase() === name) found += 1;
  }
  return found;
}
