import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Returns the client's `X-Request-Id` if it is safe in logs and headers, otherwise a new id. */
export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const id = headers["x-request-id"];
  return typeof id === "string" && /^[\w.:-]{1,128}$/.test(id) ? id : randomUUID();
}
