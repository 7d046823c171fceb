import type { ServerResponse } from "node:http";
import { GuardError } from "./errors.ts";
import { Stop } from "./stop.ts";

/** A signal that is aborted when the connection closes before the answer is out. */
export function clientGone(response: ServerResponse): AbortSignal {
  return whileConnected(response).signal;
}

/** The same for work that is stopped for other reasons too. */
export function whileConnected(response: ServerResponse): Stop {
  const gone = new Stop();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  });
  return gone;
}
