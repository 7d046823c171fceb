import type { FastifyRequest } from "fastify";
import { addressOf } from "../../http-server/callers/address.ts";
import type { ScanRequest } from "../../service/service-types.ts";

/**
 * Returns the caller of a request, which selects the cached verdicts, the key for fair queueing, and the name of the credential for
 * exceptions. Caller and key are the id of the credential.
 * Without credentials, all clients share cached verdicts, and the key is the client address (see `app.trust_proxy`), because other machines
 * reach such a server only through a proxy.
 */
export function callerOf(request: FastifyRequest): Pick<ScanRequest, "caller" | "turn" | "credential"> {
  const caller = request.credential?.id;
  return { caller, turn: caller ?? addressOf(request), credential: request.credential?.name };
}
