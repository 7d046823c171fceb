import { createHash, createHmac } from "node:crypto";
import { credentialNames } from "../../config/credential-names.ts";
import type { AuthEntry } from "../../config/index.ts";

/** Who calls: one of the configured credentials. Each key of an entry with several keys is a caller of its own. */
export interface Credential {
  /**
   * What logs, metrics and settings call it: the `name` of the entry in `auth`, or what it is and the how manieth of its kind, such as
   * `http_bearer` and `api_key.2`. No two credentials of a configuration have the same name.
   */
  readonly name: string;
  /**
   * What belongs to this caller is bound to this text: vaults, and results that are kept. It stays the same when entries are added or
   * put into another order. It depends on the name where the configuration gives one, so that the secret can change, and on the
   * secret otherwise. It goes only into keyed hashes and into what is authenticated: a weak password could be guessed from it.
   */
  readonly id: string;
}

/** The credentials of entries, each with the digest of its secret, in the order of their keys. */
export function credentialsOf(entries: readonly AuthEntry[]): Credential[][] {
  const names = credentialNames(entries);
  return entries.map((entry, index) =>
    secretsOf(entry).map((secret, at) => {
      const name = names[index]?.[at] as string;
      return { name, id: idOf(entry.name === undefined ? [entry.type, ...secret] : ["name", entry.name]) };
    }),
  );
}

/** What tells the secrets of an entry apart. A secret and its hash are the same secret. */
function secretsOf(entry: AuthEntry): string[][] {
  switch (entry.type) {
    case "http_bearer":
      return [[digestOf(entry.token).toString("hex")]];
    case "http_basic":
      return [[entry.username, digestOf(entry.password).toString("hex")]];
    case "api_key":
      return entry.keys.map((key) => [digestOf(key).toString("hex")]);
  }
}

/** The SHA-256 of a configured secret. A configuration may hold the hash instead of the secret: `sha256:<64 digits>`. */
export function digestOf(secret: string): Buffer {
  return secret.startsWith("sha256:") ? Buffer.from(secret.slice("sha256:".length), "hex") : sha256(secret);
}

/** The SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function idOf(parts: readonly string[]): string {
  return createHmac("sha256", "guard-scan credential").update(JSON.stringify(parts)).digest("base64url");
}
