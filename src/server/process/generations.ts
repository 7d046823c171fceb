import type { RequestListener } from "node:http";
import fastify, { type FastifyInstance } from "fastify";
import type { Config } from "../../config/index.ts";
import type { LogStream } from "../../http-server/log.ts";
import { listening } from "../app.ts";
import type { PreparedServer } from "../create-server.ts";
import { compilersFactory } from "../http/compilers.ts";

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
  #current: Handed;
  readonly #ending = new Set<Handed>();
  #closed: Promise<void> | undefined;

  constructor(first: Generation) {
    this.#current = new Handed(first);
  }

  get current(): Generation {
    return this.#current.generation;
  }

  /** Whether no request is taken any more. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  readonly handle: RequestListener = (request, response) => this.#current.handle(request, response);

  /** Hands requests to another server from now on. The one before closes when it has answered those that it was handed. */
  replace(next: Generation): void {
    const before = this.#current;
    const { app } = before.generation;
    this.#current = new Handed(next);
    this.#ending.add(before);
    before.answered
      .then(() => before.close())
      .catch((error) => app.log.error({ err: error }, "the configuration before did not close as it should"))
      .finally(() => this.#ending.delete(before));
    before.end();
  }

  /** Refuses new requests, lets those under way finish, and frees the models. */
  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#current, ...this.#ending].map((one) => one.close())).then(() => {});
    return this.#closed;
  }
}

/** A generation, and how many requests it has not answered yet of those that it was handed. */
class Handed {
  readonly generation: Generation;
  /** Resolves when all are answered and no more come. */
  readonly answered: Promise<void>;
  #underWay = 0;
  #hasEnded = false;
  #onAnswered: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(generation: Generation) {
    this.generation = generation;
    this.answered = new Promise((resolve) => {
      this.#onAnswered = resolve;
    });
  }

  handle(...[request, response]: Parameters<RequestListener>): void {
    // They are counted here, not in a hook: between this call and the first hook the server could be told to close.
    this.#underWay += 1;
    response.once("close", () => {
      this.#underWay -= 1;
      this.#settle();
    });
    this.generation.app.routing(request, response);
  }

  /** No more requests come. */
  end(): void {
    this.#hasEnded = true;
    this.#settle();
  }

  close(): Promise<void> {
    this.#closed ??= this.generation.app.close();
    return this.#closed;
  }

  #settle(): void {
    if (this.#hasEnded && this.#underWay === 0) this.#onAnswered();
  }
}

/** Makes what listens for generations of servers. Closing it closes them. */
export function listenerFor(generations: Generations, stream: LogStream): FastifyInstance {
  const options = listening(generations.current.config, stream, generations.handle);
  const listener = fastify({ ...options, schemaController: { compilersFactory } }) as unknown as FastifyInstance;
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
