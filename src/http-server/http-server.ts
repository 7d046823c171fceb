import dns from "node:dns";
import { type IncomingMessage, type RequestListener, Server, type ServerOptions, type ServerResponse } from "node:http";
import { type Server as Listener, type ListenOptions, createServer as listener, type Socket } from "node:net";
import { Connection, LINGER, type LingerLimits } from "./connection.ts";

/** The options of Fastify that its own server would heed. */
interface FactoryOptions {
  http?: ServerOptions | null;
  keepAliveTimeout?: number;
  requestTimeout?: number;
  connectionTimeout?: number;
}

/** Makes the server that Fastify listens with (its option `serverFactory`). See {@link Connection} for what is special about it. */
export function httpServer(limits: LingerLimits = LINGER) {
  return (handle: RequestListener, { http, keepAliveTimeout, requestTimeout, connectionTimeout }: FactoryOptions) => {
    const server = new HttpServer(http ?? {}, handle, limits);
    if (keepAliveTimeout !== undefined) server.keepAliveTimeout = keepAliveTimeout;
    if (requestTimeout !== undefined) server.requestTimeout = requestTimeout;
    if (connectionTimeout !== undefined) server.setTimeout(connectionTimeout);
    return server;
  };
}

/** A connection, and all that are open at its server. */
interface Open {
  readonly connection: Connection;
  readonly beside: ReadonlySet<Socket>;
}

const OPEN = new WeakMap<Socket, Open>();

/** Answers bytes that are not HTTP, and closes their connection (Fastify's option `clientErrorHandler`). */
export function answerUnreadable(error: Error & { code: string }, socket: Socket): void {
  const open = OPEN.get(socket);
  if (open) open.connection.fail(error.code);
  else socket.destroy();
}

/** Whether other connections are open beside this one. */
export function hasCompany(socket: Socket): boolean {
  return (OPEN.get(socket)?.beside.size ?? 0) > 1;
}

class HttpServer extends Server {
  readonly #open = new Set<Socket>();
  /** What listens at the other addresses of localhost. */
  readonly #others: Listener[] = [];

  constructor(options: ServerOptions, handle: RequestListener, limits: LingerLimits) {
    // What lacks a host is refused as everything else is, with a body that says why. The size of headers limits their number; beyond a
    // number, Node.js would drop them without a word.
    super({ ...options, requireHostHeader: false });
    this.maxHeadersCount = 0;
    // Without it, Node.js would end the connection of a client that sends no more before it has its answer.
    (this as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
    const take = (request: IncomingMessage, response: ServerResponse) => {
      OPEN.get(request.socket)?.connection.take(request, response);
    };
    this.on("connection", (socket: Socket) => {
      OPEN.set(socket, { connection: new Connection(socket, handle, limits), beside: this.#open });
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    this.on("request", take);
    this.on("checkExpectation", take);
    this.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      // A client that waits may be refused before it sends anything. It may go on sending all the same, so that what comes next on the
      // connection could be either (RFC 9110, section 10.1.1).
      const { shouldKeepAlive } = response;
      response.shouldKeepAlive = false;
      request.once("resume", () => {
        if (response.headersSent || response.destroyed) return;
        response.shouldKeepAlive = shouldKeepAlive;
        response.writeContinue();
      });
      take(request, response);
    });
  }

  /** Listens. `localhost` may be several addresses: connections to the others join those to the first. */
  override listen(...args: unknown[]): this {
    const listen = super.listen.bind(this) as (...args: unknown[]) => unknown;
    const [options] = args as [ListenOptions | undefined];
    if (options?.host !== "localhost") {
      listen(...args);
      return this;
    }
    dns.lookup(options.host, { all: true }, (error, addresses) => {
      if (error) return void listen(options);
      const [first, ...others] = addresses.map(({ address }) => address);
      this.prependOnceListener("listening", () => this.#join(others));
      listen({ ...options, host: first });
    });
    return this;
  }

  #join(hosts: readonly string[]): void {
    const { port } = this.address() as { port: number };
    for (const host of hosts) {
      const other: Listener = listener({ allowHalfOpen: true, noDelay: true }, (socket) => {
        this.emit("connection", socket);
      });
      // An address that cannot be had is done without.
      other.on("error", () => {});
      other.listen({ host, port });
      this.#others.push(other);
    }
  }

  override close(onClosed?: (error?: Error) => void): this {
    for (const other of this.#others.splice(0)) other.close();
    return super.close(onClosed);
  }
}
