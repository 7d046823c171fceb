import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { closedError } from "../../support/errors.ts";

/** Milliseconds between the last answer, when the server closes, and the end of all connections. */
const LAST_BYTES = 100;

/** How the server closes. */
export interface LifecycleOptions {
  /** Milliseconds that requests under way have to finish before their connections are cut. */
  graceMs: number;
  /** Called when no request is under way any more. */
  onClosed(): Promise<void>;
  /**
   * Whether connections outlive this server: they belong to a listener that hands their next requests to another one. Without it, they
   * are the server's own.
   */
  keepsConnections?: (() => boolean) | undefined;
}

/**
 * Closes the server without losing an answer: requests that come after `app.close()` are refused with 503, those under way
 * finish, and no silent connection keeps the server from closing.
 */
export const lifecycle = fp(
  async (app: FastifyInstance, { graceMs, onClosed, keepsConnections = () => false }: LifecycleOptions) => {
    /**
     * The number of answers that have not been sent yet. It differs from the number of running scans, because some scans go on
     * after their client has received its answer.
     */
    const underWay = new Set<ServerResponse>();
    let closing = false;
    /** When requests under way are cut, on the clock of `performance.now()`. */
    let cutAt = 0;
    let onAllAnswered = () => {};

    /**
     * Ends all connections, unless an answer is on its way. Node.js would wait for a connection that has never sent anything, and
     * for one that is accepted only now: neither is idle to it.
     */
    const hangUp = () => {
      if (underWay.size > 0) return;
      app.server.on("connection", (socket) => socket.destroy());
      app.server.closeAllConnections();
    };

    app.addHook("onRequest", (_request, reply, done) => {
      const { raw } = reply;
      underWay.add(raw);
      const onAnswered = () => {
        underWay.delete(raw);
        if (underWay.size > 0) return;
        onAllAnswered();
        if (closing) setTimeout(hangUp, LAST_BYTES);
      };
      raw.once("finish", onAnswered).once("close", onAnswered);
      done(closing ? closedError() : undefined);
    });

    app.addHook("onSend", (_request, reply, _payload, done) => {
      // A connection that is kept alive would keep the server from closing.
      if (closing && !keepsConnections()) reply.header("connection", "close");
      done();
    });

    app.addHook("preClose", async () => {
      closing = true;
      cutAt = performance.now() + graceMs;
      setTimeout(hangUp, LAST_BYTES);
    });

    // Fastify itself waits for requests too, but for localhost it opens one server for each address and waits for the first only.
    app.addHook("onClose", async () => {
      if (underWay.size > 0) {
        await new Promise<void>((resolve) => {
          const cut = setTimeout(() => {
            // Their listener cuts them when it closes. Until then nobody is in a hurry: a stream may go on for as long as it has something to say.
            if (keepsConnections()) return;
            for (const response of underWay) response.destroy();
            resolve();
          }, cutAt - performance.now());
          onAllAnswered = () => {
            clearTimeout(cut);
            resolve();
          };
        });
      }
      await onClosed();
    });
  },
);
