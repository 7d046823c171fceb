import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of a test on the loopback interface. */
export interface Listening {
  /** Without a path: `http://127.0.0.1:1234`. */
  url: string;
  /** Stops it, and ends all connections. */
  close(): Promise<void>;
}

/** Starts a server that the caller closes. */
export async function listening(listener: RequestListener): Promise<Listening> {
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

/** The text of a request's body. */
export async function bodyText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const { url, close } = await listening(() => {});
  await close();
  return Number(new URL(url).port);
}
