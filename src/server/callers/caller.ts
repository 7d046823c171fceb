import type { FastifyRequest } from "fastify";
import { addressOf } from "../../http-server/callers/address.ts";
import type { ScanRequest } from "../../service/service-types.ts";

/**
 * Returns the caller of a request, whose cached verdicts it may use, and the key by which waiting scans take turns. Both are the
 * credential. Without credentials the turns are by client address (see `app.trust_proxy`), because other machines reach such a server
 * only through a proxy; cached verdicts are shared by all clients then.
 */
export function callerOf(request: FastifyRequest): Pick<ScanRequest, "caller" | "turn"> {
  const caller = request.credential?.id;
  return { caller, turn: caller ?? addressOf(request) };
}
