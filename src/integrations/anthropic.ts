// The public surface of `guard-scan/anthropic`.
import type { Anthropic } from "@anthropic-ai/sdk";
import type { Guard } from "../guard/guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../http-formats/guarded-fetch.ts";
import { checkVersion } from "../support/package-versions.ts";
import { clientVersion } from "./parts/client-version.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export type { GuardedFetchOptions } from "../http-formats/guarded-fetch.ts";

/**
 * Returns a guarded copy of a client of Anthropic's SDK, with its type and options; see {@link guardedFetch}. The given client is not changed.
 *
 * A blocked call rejects with a GuardBlockedError. The helpers that emit events (`.stream()`) wrap their
 * errors and have it as `cause`.
 *
 * @throws GuardError `GUARD_PACKAGE` for a client of a version that guard does not support.
 *
 * @example
 * const client = guardAnthropic(new Anthropic(), guard);
 */
export function guardAnthropic<Client extends Anthropic>(
  client: Client,
  guard: Guard,
  options: GuardedFetchOptions = {},
): Client {
  checkVersion("@anthropic-ai/sdk", clientVersion(client));
  // The private fetch of the client still sends the requests.
  const { fetch } = client as unknown as { fetch: typeof globalThis.fetch };
  return client.withOptions({ fetch: guardedFetch(guard, { fetch, ...options }) }) as Client;
}
