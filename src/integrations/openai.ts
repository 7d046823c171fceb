// The public surface of `guard-scan/openai`.
import type { OpenAI } from "openai";
import type { Guard } from "../guard/guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../http-formats/guarded-fetch.ts";
import { checkVersion } from "../support/package-versions.ts";
import { clientVersion } from "./parts/client-version.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export type { GuardedFetchOptions } from "../http-formats/guarded-fetch.ts";

/** Private fields of a client. */
interface ClientFields {
  fetch: typeof globalThis.fetch;
  apiVersion?: string;
  deploymentName?: string;
}

/**
 * Returns a guarded copy of a client of OpenAI's SDK, with its type and options; see {@link guardedFetch}. The given client is not changed.
 *
 * A blocked call rejects with a GuardBlockedError. The helpers that emit events (`.stream()`, `runTools`) wrap their
 * errors and have it as `cause`.
 *
 * @throws GuardError `GUARD_PACKAGE` for a client of a version that guard does not support.
 *
 * @example
 * const client = guardOpenAI(new OpenAI(), guard);
 */
export function guardOpenAI<Client extends OpenAI>(
  client: Client,
  guard: Guard,
  options: GuardedFetchOptions = {},
): Client {
  checkVersion("openai", clientVersion(client));
  // withOptions loses the private fields of Azure clients.
  const { fetch, apiVersion, deploymentName } = client as unknown as ClientFields;
  const azure = apiVersion === undefined ? {} : { apiVersion, deployment: deploymentName };
  return client.withOptions({ ...azure, fetch: guardedFetch(guard, { fetch, ...options }) }) as Client;
}
