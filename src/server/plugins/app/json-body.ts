import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../problem.ts";

/** Takes bodies in JSON (RFC 8259), in UTF-8 and not compressed, and no others. */
export const jsonBody = fp(async (app: FastifyInstance) => {
  app.removeContentTypeParser("text/plain");
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const { "content-encoding": encoding = "identity" } = request.headers;
    // Fastify would put U+FFFD in place of what is not UTF-8, so that another text would be scanned than the one that was sent.
    if (encoding !== "identity")
      done(new Problem(415, "The body has an encoding that is not taken: send it as it is."));
    else if (isUtf8(body)) parseJson(request, body.toString(), done);
    else done(new Problem(400, "The body is not valid UTF-8."));
  });
});
