import { createHmac } from "node:crypto";
import { credentialNames } from "../../config/credential-names.ts";
import { secretsOf } from "../../config/credential-secrets.ts";
import type { AuthEntry } from "../../config/index.ts";

/** A configured credential, which identifies a caller. Each key of an entry with several keys is a credential. */
export interface Credential {
  /**
   * The unique name in logs, metrics and settings: the `name` of the entry in `auth`, or its type with a number, such as `http_bearer`
   * and `api_key.2`.
   */
  readonly name: string;
  /**
   * Vaults and cached results are bound to this id. It does not depend on the order of entries. It is made of the name if the
   * configuration gives one, so that the secret can be rotated, and of the secret otherwise. Use it only in keyed hashes and as
   * authenticated data: a weak password could be guessed from it.
   */
  readonly id: string;
}

/** Returns the credentials of each entry, in the order of its keys. */
export function credentialsOf(entries: readonly AuthEntry[]): Credential[][] {
  const names = credentialNames(entries);
  return entries.map((entry, index) =>
    secretsOf(entry).map((secret, at) => {
      const name = names[index]?.[at] as string;
      return { name, id: idOf(entry.name === undefined ? [entry.type, ...secret] : ["name", entry.name]) };
    }),
  );
}

function idOf(parts: readonly string[]): string {
  return createHmac("sha256", "guard-scan credential").update(JSON.stringify(parts)).digest("base64url");
}
