import dns from "node:dns";
import { type IncomingMessage, type RequestListener, Server, type ServerOptions, type ServerResponse } from "node:http";
import { type Server as Listener, type ListenOptions, createServer as listener, type Socket } from "node:net";
import { Bag } from "../support/bag.ts";
import { Connection, LINGER, type LingerLimits } from "./connection.ts";

/** The options of Fastify that its default server supports. */
interface FactoryOptions {
  http?: ServerOptions | null;
  keepAliveTimeout?: number;
  requestTimeout?: number;
  connectionTimeout?: number;
}

/** Returns Fastify's option `serverFactory`. Its servers use {@link Connection}. */
export function httpServerFactory(limits: LingerLimits = LINGER) {
  return (handle: RequestListener, { http, keepAliveTimeout, requestTimeout, connectionTimeout }: FactoryOptions) => {
    const server = new HttpServer(http ?? {}, handle, limits);
    if (keepAliveTimeout !== undefined) server.keepAliveTimeout = keepAliveTimeout;
    if (requestTimeout !== undefined) server.requestTimeout = requestTimeout;
    if (connectionTimeout !== undefined) server.setTimeout(connectionTimeout);
    return server;
  };
}

interface OpenConnection {
  readonly connection: Connection;
  /** All open sockets of the same server. */
  readonly sockets: Bag<Socket>;
}

const OPEN_CONNECTIONS = new WeakMap<Socket, OpenConnection>();

/** Responds to malformed bytes and closes their connection (Fastify's option `clientErrorHandler`). */
export function handleClientError(error: Error & { code: string }, socket: Socket): void {
  const open = OPEN_CONNECTIONS.get(socket);
  if (open) open.connection.fail(error.code);
  else socket.destroy();
}

/** Returns whether the server has further open connections. */
export function hasOtherConnections(socket: Socket): boolean {
  return (OPEN_CONNECTIONS.get(socket)?.sockets.size ?? 0) > 1;
}

class HttpServer extends Server {
  readonly #open = new Bag<Socket>();
  /** Listeners on further addresses of localhost. */
  readonly #others: Listener[] = [];

  constructor(options: ServerOptions, handle: RequestListener, limits: LingerLimits) {
    // The plugin headerChecks refuses requests without Host, with a body that says why.
    super({ ...options, requireHostHeader: false });
    // Their size limits the number of headers. Beyond a number, Node.js drops headers without an error.
    this.maxHeadersCount = 0;
    // Otherwise Node.js ends a half-closed connection before the response.
    (this as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
    const take = (request: IncomingMessage, response: ServerResponse) => {
      OPEN_CONNECTIONS.get(request.socket)?.connection.take(request, response);
    };
    this.on("connection", (socket: Socket) => {
      OPEN_CONNECTIONS.set(socket, { connection: new Connection(socket, handle, limits), sockets: this.#open });
      socket.once("close", this.#open.add(socket));
    });
    this.on("request", take);
    this.on("checkExpectation", take);
    this.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      // A client that waits for 100 may be refused before it sends the body, and may send it nevertheless. The next bytes could then be
      // either the body or a request (RFC 9110, section 10.1.1), so the connection is not kept alive.
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

  /** `localhost` may have several addresses: the server listens on all of them. */
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
      // The further addresses are optional.
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
