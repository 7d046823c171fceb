// The public surface of `guard-scan/openai`.
import type { OpenAI } from "openai";
import type { Guard } from "../guard/guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../http-formats/guarded-fetch.ts";
import { checkVersion } from "../support/package-versions.ts";
import { clientVersion } from "./parts/client-version.ts";

export { type ExchangePart, GuardBlockedError } from "../guard/blocked-error.ts";
export type { Guard, GuardReport } from "../guard/guard.ts";
export type { GuardedFetchOptions } from "../http-formats/guarded-fetch.ts";

/** What a client keeps of its options. */
interface ClientFields {
  fetch: typeof globalThis.fetch;
  apiVersion?: string;
  deploymentName?: string;
}

/**
 * Returns a client of OpenAI's SDK whose calls are guarded; see {@link guardedFetch}. It has the type and the options of the client that it
 * is made from, and that client stays as it is.
 *
 * A call that a check has stopped rejects with a GuardBlockedError; the helpers that emit events (`.stream()`, `runTools`) wrap every
 * error of theirs, and have it as `cause`.
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
  // These are private to the client, and its own withOptions forgets those of Azure.
  const { fetch, apiVersion, deploymentName } = client as unknown as ClientFields;
  const azure = apiVersion === undefined ? {} : { apiVersion, deployment: deploymentName };
  return client.withOptions({ ...azure, fetch: guardedFetch(guard, { fetch, ...options }) }) as Client;
}
