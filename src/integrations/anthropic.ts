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
 * Returns a client of Anthropic's SDK whose calls are guarded; see {@link guardedFetch}. It has the type and the options of the client that it
 * is made from, and that client stays as it is.
 *
 * A call that a check has stopped rejects with a GuardBlockedError; the helpers that emit events (`.stream()`) wrap every
 * error of theirs, and have it as `cause`.
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
  // The fetch of the client is private to it. Requests go on through the one that it was made with.
  const { fetch } = client as unknown as { fetch: typeof globalThis.fetch };
  return client.withOptions({ fetch: guardedFetch(guard, { fetch, ...options }) }) as Client;
}
