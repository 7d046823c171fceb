import { createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { watchDescriptors } from "./descriptor-watch.ts";

/** A server that listens. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:8000`. */
  url: string;
  /** Refuses new requests, waits for requests in progress, and frees the models. */
  close(): Promise<void>;
}

export interface RunningOptions {
  /** Milliseconds that requests in progress may take when the server closes. Afterwards their connections are destroyed. */
  graceMs(): number;
  /** Closes the server when aborted. */
  signal?: AbortSignal;
  onListening?(url: string, close: () => Promise<void>): void;
  /** Called when the server has closed, or has failed to close. */
  onClosed?(): void;
}

/**
 * Tries to listen on an address, before models are loaded for a server that could not start.
 *
 * @throws the error of the system, such as `EADDRINUSE`.
 */
export async function assertCanListen({ host, port }: { host: string; port: number }): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject).listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/**
 * Milliseconds that the process may live after a signal has closed its server: for the last log lines and for work that was told to stop.
 * Closing may also exceed the grace period by this time.
 */
export const EXIT_DELAY_MS = 2000;

/**
 * Runs a server as the program of this process: SIGTERM and SIGINT close it. After such a signal the process ends when the server has
 * closed, at most {@link EXIT_DELAY_MS} after the grace period, even if a scanner never settles.
 */
export async function listenUntilClosed(
  app: FastifyInstance,
  at: { host: string; port: number },
  { graceMs, signal, onListening, onClosed }: RunningOptions,
): Promise<RunningServer> {
  let closed: Promise<void> | undefined;
  let unwatch = () => {};
  const close = (): Promise<void> => {
    closed ??= (async () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      signal?.removeEventListener("abort", onAbort);
      unwatch();
      app.log.info("closing");
      // Closing a connection with unread bytes resets it, so bytes that have arrived count as a request in progress.
      for (let turns = 0; turns < 2; turns++) await setImmediate();
      const forceClose = setTimeout(() => app.server.closeAllConnections(), graceMs());
      try {
        await app.close();
      } finally {
        clearTimeout(forceClose);
        onClosed?.();
      }
    })();
    return closed;
  };
  /** Ends the process after a time, if something still keeps it alive. */
  const exitIn = (milliseconds: number) => void setTimeout(() => process.exit(), milliseconds).unref();
  const onSignal = () => {
    exitIn(graceMs() + EXIT_DELAY_MS);
    close().then(
      () => exitIn(EXIT_DELAY_MS),
      (error) => {
        app.log.error({ err: error }, "the server did not close cleanly");
        process.exitCode = 2;
        exitIn(EXIT_DELAY_MS);
      },
    );
  };
  const onAbort = () => void close();

  try {
    signal?.throwIfAborted();
    const url = await app.listen({ ...at, listenTextResolver: (address) => `listening on ${address}` });
    for (const name of SIGNALS) process.on(name, onSignal);
    unwatch = watchDescriptors(app.log);
    signal?.addEventListener("abort", onAbort, { once: true });
    onListening?.(url, close);
    return { url, close };
  } catch (error) {
    await app.close();
    throw error;
  }
}
