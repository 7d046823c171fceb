import type { RequestListener } from "node:http";
import fastify, { type FastifyInstance } from "fastify";
import type { Config } from "../../config/index.ts";
import type { LogStream } from "../../http-server/log.ts";
import { listenerOptions } from "../app.ts";
import type { PreparedServer } from "../create-server.ts";
import { SchemaCompilers } from "../http/compilers.ts";

/** Milliseconds between the last response of a closing server and the end of all connections. */
const FLUSH_MS = 100;

/** A server of one configuration. It does not listen: a listener passes requests to it. */
export interface Generation extends PreparedServer {
  config: Config;
}

/** The servers of a process that reloads its configuration. The current one gets all new requests; older ones drain and close. */
export class Generations {
  #current: ActiveGeneration;
  readonly #draining = new Set<ActiveGeneration>();
  #closed: Promise<void> | undefined;

  constructor(first: Generation) {
    this.#current = new ActiveGeneration(first);
  }

  get current(): Generation {
    return this.#current.generation;
  }

  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  readonly handle: RequestListener = (request, response) => this.#current.handle(request, response);

  /** Passes new requests to another server. The old one closes when its requests are answered. */
  replace(next: Generation): void {
    const old = this.#current;
    const { app } = old.generation;
    this.#current = new ActiveGeneration(next);
    this.#draining.add(old);
    old
      .drain()
      .then(() => old.close())
      .catch((error) => app.log.error({ err: error }, "the server of the old configuration did not close cleanly"))
      .finally(() => this.#draining.delete(old));
  }

  /** Refuses new requests, waits for requests in progress, and frees the models. */
  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#current, ...this.#draining].map((one) => one.close())).then(() => {});
    return this.#closed;
  }
}

/** A generation with the number of its requests in progress. */
class ActiveGeneration {
  readonly generation: Generation;
  #inProgress = 0;
  #onDrained: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(generation: Generation) {
    this.generation = generation;
  }

  handle(...[request, response]: Parameters<RequestListener>): void {
    // A hook would count too late: the server could close between this call and the hook.
    this.#inProgress += 1;
    response.once("close", () => {
      this.#inProgress -= 1;
      if (this.#inProgress === 0) this.#onDrained?.();
    });
    this.generation.app.routing(request, response);
  }

  /** Waits for the requests in progress. Pass no further requests to it. */
  async drain(): Promise<void> {
    if (this.#inProgress === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.generation.app.close();
    return this.#closed;
  }
}

/** Creates the listener of generations. Closing it closes them. */
export function createListener(generations: Generations, stream: LogStream): FastifyInstance {
  const options = listenerOptions(generations.current.config, stream, generations.handle);
  const listener = fastify({
    ...options,
    schemaController: { compilersFactory: new SchemaCompilers().factory },
  }) as unknown as FastifyInstance;
  const { server } = listener;
  // Node.js would wait for connections that have sent nothing yet and for those accepted from now on: it sees none of them as idle.
  const closeConnections = () => {
    server.on("connection", (socket) => socket.destroy());
    server.closeAllConnections();
  };
  listener.addHook("preClose", async () => {
    generations.close().then(
      () => setTimeout(closeConnections, FLUSH_MS),
      () => closeConnections(),
    );
  });
  listener.addHook("onClose", async () => generations.close());
  return listener;
}
