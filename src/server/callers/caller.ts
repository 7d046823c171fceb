import type { FastifyRequest } from "fastify";
import { addressOf } from "../../http-server/callers/address.ts";
import type { ScanRequest } from "../../service/service-types.ts";

/**
 * Returns the caller of a request, which selects the cached verdicts, and the key for fair queueing. Both are the id of the credential.
 * Without credentials, all clients share cached verdicts, and the key is the client address (see `app.trust_proxy`), because other machines
 * reach such a server only through a proxy.
 */
export function callerOf(request: FastifyRequest): Pick<ScanRequest, "caller" | "turn"> {
  const caller = request.credential?.id;
  return { caller, turn: caller ?? addressOf(request) };
}
