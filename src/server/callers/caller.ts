import type { FastifyRequest } from "fastify";
import { addressOf } from "../../http-server/callers/address.ts";
import type { ScanRequest } from "../../service/service-types.ts";

/**
 * For whom a request is scanned: the credential, or nobody in particular where there is none. Without credentials the addresses of clients
 * take turns, as `app.trust_proxy` has them: a server without `auth` is reached from its own machine alone, and so by others only through
 * a proxy. What is kept of texts is kept for all of them together all the same, or nothing of it would be of use behind such a proxy.
 */
export function callerOf(request: FastifyRequest): Pick<ScanRequest, "caller" | "turn"> {
  const caller = request.credential?.id;
  return { caller, turn: caller ?? addressOf(request) };
}
