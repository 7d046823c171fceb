import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import { trackHandoffs } from "../../../src/server/process/workers/handoffs.ts";

it("closes the connections that a dead worker has not taken", () => {
  const sent: unknown[] = [];
  const process = Object.assign(new EventEmitter(), { send: (message: unknown) => sent.push(message) > 0 });
  const closeHandoffs = trackHandoffs({ process } as never);
  const [taken, lost] = [{ close: vi.fn() }, { close: vi.fn() }];
  const send = process.send as (message: object, handle?: object) => boolean;
  send({ cmd: "NODE_CLUSTER", act: "newconn", seq: 1 }, taken);
  send({ cmd: "NODE_CLUSTER", act: "newconn", seq: 2 }, lost);
  send({ guard: "call", id: 3 });
  process.emit("internalMessage", { cmd: "NODE_CLUSTER", ack: 1, accepted: true });
  closeHandoffs();
  closeHandoffs();
  expect(sent).toHaveLength(3);
  expect(taken.close).not.toHaveBeenCalled();
  expect(lost.close).toHaveBeenCalledOnce();
});
