import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Bag } from "../../support/bag.ts";
import { closedError } from "../../support/errors.ts";

/** Milliseconds between the last response and the end of all connections. */
const FLUSH_MS = 100;

export interface LifecycleOptions {
  /** Milliseconds that requests in progress may take when the server closes. */
  graceMs: number;
  /** Called when no request is in progress any more. */
  onClosed(): Promise<void>;
  /** Whether connections belong to a listener that hands their next requests to another server. Default: no. */
  keepsConnections?: (() => boolean) | undefined;
}

/**
 * Drains the server when it closes: new requests get 503, requests in progress finish, and idle connections do not delay the close.
 */
export const lifecycle = fp(
  async (app: FastifyInstance, { graceMs, onClosed, keepsConnections = () => false }: LifecycleOptions) => {
    const pending = new PendingResponses();
    let isClosing = false;
    /** On the clock of `performance.now()`. */
    let deadline = 0;

    /** Node.js would wait for connections that have sent nothing yet and for those accepted from now on: it sees none of them as idle. */
    const closeConnections = () => {
      if (pending.size > 0) return;
      app.server.on("connection", (socket) => socket.destroy());
      app.server.closeAllConnections();
    };

    app.addHook("onRequest", (_request, reply, done) => {
      pending.add(reply.raw, () => {
        if (isClosing) setTimeout(closeConnections, FLUSH_MS);
      });
      done(isClosing ? closedError() : undefined);
    });

    app.addHook("onSend", (_request, reply, _payload, done) => {
      // A connection that is kept alive would keep the server from closing.
      if (isClosing && !keepsConnections()) reply.header("connection", "close");
      done();
    });

    app.addHook("preClose", async () => {
      isClosing = true;
      deadline = performance.now() + graceMs;
      setTimeout(closeConnections, FLUSH_MS);
    });

    // Fastify waits for requests too. But for localhost it has one server for each address, and waits for the first one only.
    app.addHook("onClose", async () => {
      // A listener that keeps connections destroys them when it closes. Until then a stream may continue.
      await pending.drain(deadline - performance.now(), () => !keepsConnections());
      await onClosed();
    });
  },
);

/** Responses that are not sent yet. Scans may still run after their responses are sent. */
class PendingResponses {
  readonly #responses = new Bag<ServerResponse>();
  #onDrained = () => {};

  get size(): number {
    return this.#responses.size;
  }

  /** @param onDrained called when this response is done and no other is pending. */
  add(response: ServerResponse, onDrained: () => void): void {
    const remove = this.#responses.add(response);
    const onDone = () => {
      remove();
      if (this.#responses.size > 0) return;
      this.#onDrained();
      onDrained();
    };
    response.once("finish", onDone).once("close", onDone);
  }

  /**
   * Waits until all responses are sent.
   *
   * @param ms after this time the responses are destroyed, if `mayDestroy` returns true then.
   */
  async drain(ms: number, mayDestroy: () => boolean): Promise<void> {
    if (this.#responses.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        if (!mayDestroy()) return;
        for (const response of this.#responses) response.destroy();
        resolve();
      }, ms);
      this.#onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
