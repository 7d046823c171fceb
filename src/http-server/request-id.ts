import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The id of a request: that of the client (`X-Request-Id`) when it may stand in logs and headers, or a new one. */
export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const id = headers["x-request-id"];
  return typeof id === "string" && /^[\w.:-]{1,128}$/.test(id) ? id : randomUUID();
}
