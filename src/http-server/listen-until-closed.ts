import { setImmediate } from "node:timers/promises";
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
  /** The milliseconds that requests under way have to finish when the server closes. Their connections are cut then. */
  graceMs(): number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
  /** Is called when it listens. */
  onListening?(url: string, close: () => Promise<void>): void;
  /** Is called when it has closed, or could not be closed as it should. */
  onClosed?(): void;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/**
 * Milliseconds that the process may go on after its server was closed by a signal: for the last lines of the log, and for what was
 * told to stop. It is also how much longer than the grace the closing may take.
 */
export const LEFT = 2000;

/**
 * Lets a server listen as the program of this process: SIGTERM and SIGINT close it. After such a signal the process ends when the
 * server has closed, or {@link LEFT} after the grace, whatever still runs: a scanner that never settles cannot keep it.
 */
export async function listenUntilClosed(
  app: FastifyInstance,
  at: { host: string; port: number },
  { graceMs, signal, onListening, onClosed }: RunningOptions,
): Promise<RunningServer> {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      signal?.removeEventListener("abort", onAbort);
      app.log.info("closing");
      // A connection that is closed with bytes that nobody has read is reset. What has arrived by now is a request under way.
      for (let turns = 0; turns < 2; turns++) await setImmediate();
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs());
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
        onClosed?.();
      }
    })();
    return closed;
  };
  /** Ends the process after so many milliseconds, if anything keeps it alive for so long. */
  const exitIn = (milliseconds: number) => void setTimeout(() => process.exit(), milliseconds).unref();
  const onSignal = () => {
    exitIn(graceMs() + LEFT);
    close().then(
      () => exitIn(LEFT),
      (error) => {
        app.log.error({ err: error }, "the server did not close as it should");
        process.exitCode = 2;
        exitIn(LEFT);
      },
    );
  };
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
