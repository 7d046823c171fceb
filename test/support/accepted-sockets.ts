import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";

const CHANNEL = "net.server.socket";

/** Collects the sockets that servers of this process accept until the test ends, so that a test can see what has arrived. */
export function acceptedSockets(): readonly Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe(CHANNEL, add);
  onTestFinished(() => void unsubscribe(CHANNEL, add));
  return sockets;
}
