import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../problem.ts";

/** Headers of which Node.js reads the first one. A proxy in front may read another one. */
const SINGLE = ["host", "authorization", "content-type"];

/**
 * Refuses requests with no or several Host headers (RFC 9112, section 3.2), with several credentials or content types, an unknown
 * expectation (RFC 9110, section 10.1.1), or a transfer coding other than `chunked` (RFC 9112, section 6.1). Node.js refuses other
 * malformed headers.
 */
export const headerChecks = fp(async (app: FastifyInstance) => {
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, rawHeaders, headers } = request.raw;
    if (httpVersion === "1.1" && headers.host === undefined)
      return done(new Problem(400, "The header Host is missing."));
    const repeated = SINGLE.find((name) => count(rawHeaders, name) > 1);
    if (repeated) return done(new Problem(400, `The header ${repeated} must not be repeated.`));
    const { expect, "transfer-encoding": coding } = headers;
    if (expect !== undefined && !/^100-continue$/i.test(expect)) {
      return done(new Problem(417, "The only supported expectation is 100-continue."));
    }
    if (coding !== undefined && !/^chunked$/i.test(coding)) {
      return done(
        new Problem(501, "The only supported transfer coding is chunked.", { headers: { connection: "close" } }),
      );
    }
    done();
  });
});

/** Counts a header. `rawHeaders` alternates names and values. */
function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string;
    if (header.length === name.length && header.toLowerCase() === name) found += 1;
  }
  return found;
}
