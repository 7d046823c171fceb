import type { FastifyInstance } from "fastify";

/** A server that listens. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:8000`. */
  url: string;
  /** Refuses new requests, lets those under way finish, and frees the models. */
  close(): Promise<void>;
}

/** How a server runs. */
export interface RunningOptions {
  /** Milliseconds that requests under way have to finish when the server closes. Their connections are cut then. */
  graceMs: number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
  /** Is called when it listens. */
  onListening?(url: string, close: () => Promise<void>): void;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Lets a server listen as the program of this process: SIGTERM and SIGINT close it. */
export async function listenUntilClosed(
  app: FastifyInstance,
  at: { host: string; port: number },
  { graceMs, signal, onListening }: RunningOptions,
): Promise<RunningServer> {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      signal?.removeEventListener("abort", onAbort);
      app.log.info("closing");
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    })();
    return closed;
  };
  const onSignal = () => void close();
  const onAbort = () => void close();

  try {
    signal?.throwIfAborted();
    const url = await app.listen({ ...at, listenTextResolver: (address) => `listening on ${address}` });
    for (const name of SIGNALS) process.on(name, onSignal);
    signal?.addEventListener("abort", onAbort, { once: true });
    onListening?.(url, close);
    return { url, close };
  } catch (error) {
    await app.close();
    throw error;
  }
}
