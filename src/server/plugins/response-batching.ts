import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { hasOtherConnections } from "../../http-server/http-server.ts";

/**
 * Writes all responses that are ready in one turn of the event loop together. Each write wakes a client, which then competes with the
 * server for a processor, and on a virtual machine each wake-up costs time of its own. The wait for the end of the turn costs about a
 * microsecond; with a single connection there is none.
 */
export const responseBatching = fp(async (app: FastifyInstance) => {
  let ready: (() => void)[] = [];
  const sendAll = () => {
    const sending = ready;
    ready = [];
    for (const send of sending) send();
  };
  app.addHook("onSend", (request, _reply, _payload, done) => {
    if (!hasOtherConnections(request.raw.socket)) return done();
    if (ready.push(done) === 1) setImmediate(sendAll);
  });
});
