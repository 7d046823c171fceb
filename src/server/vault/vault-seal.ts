import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Credential } from "../../http-server/callers/credential.ts";
import { Problem } from "../../http-server/problem.ts";
import { Vault, type VaultEntry } from "../../scan/vault.ts";
import type { Environment } from "../../support/environment.ts";
import { derived, KEY_BYTES, readSecretKeys } from "../../support/secret-keys.ts";
import { openText, sealText } from "./sealed-text.ts";

/** The environment variable that holds the keys. */
const VARIABLE = "GUARD_VAULT_KEY";

/** The first byte of every token. Another way of writing tokens would get another number. */
const VERSION = 1;
const ID_BYTES = 8;
const PURPOSE = "vault token";

/** A key of the service. */
export interface VaultKey {
  /** The first bytes of every token that was sealed with this key: the version and the id of the key. */
  prefix: Buffer;
  secret: KeyObject;
}

/** The keys of a service. The first one seals; all of them open. */
export type VaultKeys = readonly [VaultKey, ...VaultKey[]];

/** What a token holds. */
interface Content {
  /** When the token becomes void, in seconds since 1970. */
  expires: number;
  /** The pairs of the vault. */
  entries: VaultEntry[];
}

/**
 * The keys in `GUARD_VAULT_KEY`: one or several with commas between, 32 bytes each, in base64 (either alphabet) or hexadecimal.
 * The first one seals; all of them open. To change the key, put the new one before the old one, and remove the old one when its
 * last token has expired.
 *
 * @returns undefined if the variable is not set or is empty.
 * @throws GuardValidationError with the number of the key at fault, and nothing of its value.
 */
export function readVaultKeys(env: Environment = process.env): VaultKeys | undefined {
  return readSecretKeys(VARIABLE, env)?.map(vaultKey) as VaultKeys | undefined;
}

/** A new random key. What is sealed with it can be opened by this process only. */
export function randomVaultKey(): VaultKey {
  return vaultKey(randomBytes(KEY_BYTES));
}

/** The key that is made of {@link KEY_BYTES} secret bytes. */
export function vaultKey(bytes: Buffer): VaultKey {
  const secret = createSecretKey(bytes);
  return { prefix: Buffer.concat([Buffer.of(VERSION), derived(secret, "", "vault id", ID_BYTES)]), secret };
}

/**
 * Makes opaque tokens of vaults, which callers keep between calls, and makes vaults of tokens again. Nobody without the key can
 * read a token or make one. A token opens for the credential that it was made for, and for no other. But whoever has a token and that
 * credential can have its values restored, as can whoever may call a service without credentials, so a token must be protected like
 * the values themselves.
 *
 * A token is a text that {@link sealText} has sealed, in base64url without padding: `version (1 byte) | id of the key (8)`, and behind
 * that the pairs in JSON with the expiry. Its length tells how long all the values are together, which the length of the prompt
 * tells as well.
 */
export class VaultSeal {
  readonly #keys: VaultKeys;
  readonly #expiresInSeconds: number;
  readonly #maxLength: number;

  /**
   * @param keys the keys of the service.
   * @param limits `expiresInSeconds` is how long a token can be opened, `maxLength` how many characters it may have.
   */
  constructor(keys: VaultKeys, { expiresInSeconds, maxLength }: { expiresInSeconds: number; maxLength: number }) {
    this.#keys = keys;
    this.#expiresInSeconds = expiresInSeconds;
    this.#maxLength = maxLength;
  }

  /**
   * The token of a vault.
   *
   * @param owner the credential of the request; null for a service without credentials.
   * @throws Problem 413 when it would be too long.
   */
  seal(vault: Vault, owner: Credential | null): string {
    const [{ prefix, secret }] = this.#keys;
    const content: Content = {
      expires: Math.floor(Date.now() / 1000) + this.#expiresInSeconds,
      entries: [...vault.entries()],
    };
    const token = sealText({ secret, ...sealedFor(owner) }, JSON.stringify(content), prefix).toString("base64url");
    if (token.length > this.#maxLength) {
      throw new Problem(413, `The vault of what was replaced would have more than ${this.#maxLength} characters.`);
    }
    return token;
  }

  /**
   * The vault of a token.
   *
   * @param caller the credential of the request; null for a service without credentials.
   * @throws Problem 422 for every token that cannot be opened, whatever the reason, always in the same words.
   */
  open(token: string, caller: Credential | null): Vault {
    const content = this.#read(token, caller);
    if (!content || content.expires <= Date.now() / 1000) {
      throw new Problem(422, "The vault cannot be opened.", {
        errors: [{ pointer: "/vault", detail: "is not a vault of this service, or not any more" }],
      });
    }
    return new Vault(content.entries);
  }

  #read(token: string, caller: Credential | null): Content | undefined {
    if (token.length > this.#maxLength) return undefined;
    const bytes = Buffer.from(token, "base64url");
    // Node skips characters that are not base64url. Only the one spelling that was handed out is taken.
    if (bytes.toString("base64url") !== token) return undefined;
    const known = this.#keys.find(({ prefix }) => prefix.equals(bytes.subarray(0, prefix.length)));
    if (!known) return undefined;
    const text = openText({ secret: known.secret, ...sealedFor(caller) }, bytes, known.prefix.length);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/** What the tokens of a credential are bound to, besides the key. */
function sealedFor(credential: Credential | null): { purpose: string; context: string } {
  return { purpose: PURPOSE, context: credential?.id ?? "" };
}
