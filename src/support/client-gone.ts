import type { ServerResponse } from "node:http";
import { GuardError } from "../errors.ts";

/** A signal that is aborted when the connection closes before the answer is out. */
export function clientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  });
  return gone.signal;
}
