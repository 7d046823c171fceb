import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Credential } from "../../http-server/callers/credential.ts";
import { Problem } from "../../http-server/problem.ts";
import { Vault, type VaultEntry, VaultFullError, type VaultLimit } from "../../scan/vault.ts";
import type { Environment } from "../../support/environment.ts";
import { deriveKey, KEY_BYTES, readSecretKeys } from "../../support/secret-keys.ts";
import { openText, sealText } from "./sealed-text.ts";

/** The environment variable of the keys. */
const VARIABLE = "GUARD_VAULT_KEY";

/** The version of the token format, which is the first byte of every token. */
const VERSION = 1;
const ID_BYTES = 8;
const PURPOSE = "vault token";

export interface VaultKey {
  /** The first bytes of every token sealed with this key: the version and the key id. */
  prefix: Buffer;
  secret: KeyObject;
}

/** The first key seals; all of them open. */
export type VaultKeys = readonly [VaultKey, ...VaultKey[]];

/** The content of a token. */
interface TokenContent {
  /** In seconds since 1970. */
  expires: number;
  entries: VaultEntry[];
}

/**
 * Reads the keys in `GUARD_VAULT_KEY`: one or several separated by commas, 32 bytes each, in base64 (either alphabet) or hexadecimal.
 * The first one seals; all of them open. To rotate keys, put the new one first, and remove the old one when its last token has expired.
 *
 * @returns undefined if the variable is not set or is empty.
 * @throws GuardValidationError with the number of the invalid key, and nothing of its value.
 */
export function readVaultKeys(env: Environment = process.env): VaultKeys | undefined {
  return readSecretKeys(VARIABLE, env)?.map(vaultKey) as VaultKeys | undefined;
}

/** Creates a key whose tokens only this process can open. */
export function randomVaultKey(): VaultKey {
  return vaultKey(randomBytes(KEY_BYTES));
}

/** Creates the key of {@link KEY_BYTES} secret bytes. */
export function vaultKey(bytes: Buffer): VaultKey {
  const secret = createSecretKey(bytes);
  return { prefix: Buffer.concat([Buffer.of(VERSION), deriveKey(secret, "", "vault id", ID_BYTES)]), secret };
}

/** The bytes of a token besides the pairs: the header, the tag, and the JSON around the pairs, with a margin. */
const FRAME_BYTES = 100;

export interface VaultSealOptions {
  /** How long a token opens, in milliseconds. */
  lifetimeMs: number;
  /** The maximum number of characters of a token. */
  maxLength: number;
  /** The setting that makes this limit, for errors. */
  limitedBy: string;
}

/**
 * Turns vaults into opaque tokens that callers keep between calls, and back. Without the key nobody can read or forge a token. A token
 * opens only for the credential that it was created for. A caller with the token and that credential can restore its values, as can
 * every caller of a service without credentials, so protect tokens like the values.
 *
 * A token is a text sealed by {@link sealText}, in base64url without padding. Its prefix is `version (1 byte) | key id (8 bytes)`; the
 * text is the pairs in JSON with the expiry. The length of a token reveals the total length of the values, as the prompt does.
 */
export class VaultSeal {
  readonly #keys: VaultKeys;
  readonly #lifetimeMs: number;
  readonly #maxLength: number;
  readonly #limit: VaultLimit;

  constructor(keys: VaultKeys, { lifetimeMs, maxLength, limitedBy }: VaultSealOptions) {
    this.#keys = keys;
    this.#lifetimeMs = lifetimeMs;
    this.#maxLength = maxLength;
    this.#limit = {
      maxBytes: Math.max(0, Math.floor((maxLength * 3) / 4) - FRAME_BYTES),
      message: `The vault of the replaced values would have more than ${maxLength} characters (${limitedBy}).`,
    };
  }

  /** Creates an empty vault. Values beyond the length of a token are refused when they are added, not when the vault is sealed. */
  create(): Vault {
    return new Vault([], this.#limit);
  }

  /**
   * Returns the token of a vault.
   *
   * @param owner the credential of the request; null for a service without credentials.
   * @throws GuardError `GUARD_TOO_LARGE` if it would be too long.
   */
  seal(vault: Vault, owner: Credential | null): string {
    const [{ prefix, secret }] = this.#keys;
    const content: TokenContent = {
      expires: Math.floor((Date.now() + this.#lifetimeMs) / 1000),
      entries: [...vault.entries()],
    };
    const token = sealText({ secret, ...bindingOf(owner) }, JSON.stringify(content), prefix).toString("base64url");
    if (token.length > this.#maxLength) throw new VaultFullError(this.#limit.message);
    return token;
  }

  /**
   * Returns the vault of a token.
   *
   * @param caller the credential of the request; null for a service without credentials.
   * @throws Problem 422 for every token that cannot be opened, with the same message for all reasons.
   */
  open(token: string, caller: Credential | null): Vault {
    const content = this.#read(token, caller);
    if (!content || content.expires <= Date.now() / 1000) {
      throw new Problem(422, "The vault cannot be opened.", {
        errors: [{ pointer: "/vault", detail: "is not a valid vault of this service, or has expired" }],
      });
    }
    return new Vault(content.entries, this.#limit);
  }

  #read(token: string, caller: Credential | null): TokenContent | undefined {
    if (token.length > this.#maxLength) return undefined;
    const bytes = Buffer.from(token, "base64url");
    // Node.js ignores characters outside base64url. Only the canonical spelling is valid.
    if (bytes.toString("base64url") !== token) return undefined;
    const key = this.#keys.find(({ prefix }) => prefix.equals(bytes.subarray(0, prefix.length)));
    if (!key) return undefined;
    const text = openText({ secret: key.secret, ...bindingOf(caller) }, bytes, key.prefix.length);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/** Returns what the tokens of a credential are bound to besides the key. */
function bindingOf(credential: Credential | null): { purpose: string; context: string } {
  return { purpose: PURPOSE, context: credential?.id ?? "" };
}
