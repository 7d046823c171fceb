import type { FastifyReply } from "fastify";
import { GuardError } from "../errors.ts";

/** A signal that is aborted when the connection closes before the answer is out. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  });
  return gone.signal;
}
