import type { RequestListener } from "node:http";
import fastify, { type FastifyInstance } from "fastify";
import type { Config } from "../config/index.ts";
import { listening } from "./app.ts";
import type { PreparedServer } from "./create-server.ts";
import type { LogStream } from "./log.ts";

/** Milliseconds between the last answer, when the server closes, and the end of all connections. */
const LAST_BYTES = 100;

/** A server of one configuration. It does not listen: it is handed requests. */
export interface Generation extends PreparedServer {
  config: Config;
}

/**
 * The servers of a process that reloads its configuration. One of them is handed all new requests; those before it answer what they have
 * begun, and close.
 */
export class Generations {
  #current: Generation;
  readonly #closing = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(first: Generation) {
    this.#current = first;
  }

  get current(): Generation {
    return this.#current;
  }

  /** Whether no request is taken any more. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  readonly handle: RequestListener = (request, response) => this.#current.app.routing(request, response);

  /** Hands requests to another server from now on. The one before closes when it has answered. */
  replace(next: Generation): void {
    const { app } = this.#current;
    this.#current = next;
    const closing: Promise<void> = app
      .close()
      .catch((error) => app.log.error({ err: error }, "the configuration before did not close as it should"))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Refuses new requests, lets those under way finish, and frees the models. */
  close(): Promise<void> {
    // What is refused meanwhile must find that this is the end.
    if (!this.#closed) {
      let end: (closed: Promise<void>) => void = () => {};
      this.#closed = new Promise((resolve) => {
        end = resolve as typeof end;
      });
      end(Promise.all([this.#current.app.close(), ...this.#closing]).then(() => {}));
    }
    return this.#closed;
  }
}

/** Makes what listens for generations of servers. Closing it closes them. */
export function listenerFor(generations: Generations, stream: LogStream): FastifyInstance {
  const options = listening(generations.current.config, stream, generations.handle);
  const listener = fastify(options) as unknown as FastifyInstance;
  const { server } = listener;
  // Node.js would wait for a connection that has never sent anything, and for one that is accepted only now: neither is idle to it.
  const hangUp = () => {
    server.on("connection", (socket) => socket.destroy());
    server.closeAllConnections();
  };
  listener.addHook("preClose", async () => {
    generations.close().then(
      () => setTimeout(hangUp, LAST_BYTES),
      () => hangUp(),
    );
  });
  listener.addHook("onClose", async () => generations.close());
  return listener;
}
