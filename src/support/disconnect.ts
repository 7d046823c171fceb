import type { ServerResponse } from "node:http";
import { GuardError } from "./errors.ts";
import { LazyAbortController } from "./lazy-abort-controller.ts";

/** Returns a signal that aborts when the client disconnects before the response is complete. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  return stopOnDisconnect(response).signal;
}

/** Returns a controller that aborts when the client disconnects before the response is complete. The caller may abort it for other reasons. */
export function stopOnDisconnect(response: ServerResponse): LazyAbortController {
  const controller = new LazyAbortController();
  response.once("close", () => {
    if (!response.writableFinished)
      controller.abort(new GuardError("GUARD_ABORTED", "The client closed the connection."));
  });
  return controller;
}
