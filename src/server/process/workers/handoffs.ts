import type { Worker } from "node:cluster";

/** A connection that the supervisor has accepted. */
interface Connection {
  close(): void;
}

/** A message of Node's cluster module. `newconn` hands a connection to a worker, which acknowledges the number. */
interface ClusterMessage {
  act?: string;
  seq?: number;
  ack?: number;
}

/**
 * Follows the connections that the supervisor hands to a worker. Node's cluster module (20 to 24) closes its side of a connection when the
 * worker acknowledges it. If the worker dies before that, nobody reads the connection and nobody closes it, so its client would wait until
 * its own timeout.
 *
 * @returns a function that closes the connections that are not acknowledged. Call it when the worker has ended.
 */
export function trackHandoffs({ process }: Pick<Worker, "process">): () => void {
  const pending = new Map<number, Connection>();
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  process.send = ((message: ClusterMessage, handle?: Connection, ...rest: unknown[]) => {
    if (message?.act === "newconn" && handle && message.seq !== undefined) pending.set(message.seq, handle);
    return send(message, handle, ...rest);
  }) as typeof process.send;
  process.on("internalMessage" as "message", (message) => {
    const { ack } = message as ClusterMessage;
    if (ack !== undefined) pending.delete(ack);
  });
  return () => {
    for (const connection of pending.values()) connection.close();
    pending.clear();
  };
}
