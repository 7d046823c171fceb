import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on the loopback interface. */
export interface TestServer {
  /** The URL without a path: `http://127.0.0.1:1234`. */
  url: string;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

/** Starts a server, which the caller closes. */
export async function startHttpServer(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads the body of a request as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Returns a port on which no server listens. */
export async function freePort(): Promise<number> {
  const { url, close } = await startHttpServer(() => {});
  await close();
  return Number(new URL(url).port);
}
