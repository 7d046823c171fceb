import { isIPv4, isIPv6 } from "node:net";
import { GuardValidationError } from "../support/errors.ts";
import type { Config } from "./schema.ts";

/**
 * Throws if other machines could reach a server without credentials.
 *
 * @param host the address or name to listen on.
 * @throws GuardValidationError with the path `auth`.
 */
export function assertSafeToListen(config: Pick<Config, "auth">, host: string): void {
  if ((config.auth?.length ?? 0) > 0 || isLoopback(host)) return;
  const message =
    `listening on ${host} requires a credential; without one only a loopback address such as 127.0.0.1 is allowed. ` +
    "Add the section auth to the configuration, such as auth: {type: http_bearer, token: $" +
    "{AUTH_TOKEN}}";
  throw new GuardValidationError([{ path: "auth", message }]);
}

/** Returns whether only this machine reaches an address: 127.0.0.0/8 (RFC 1122, 3.2.1.3), ::1 (RFC 4291, 2.5.3) or localhost. */
export function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith("127.");
  return isIPv6(host) ? host === "::1" : host.toLowerCase() === "localhost";
}
