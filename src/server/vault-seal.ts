import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import type { Environment } from "../config/index.ts";
import { GuardValidationError } from "../errors.ts";
import { Vault, type VaultEntry } from "../vault.ts";
import { Problem } from "./problem.ts";

/** The environment variable that holds the keys. */
const VARIABLE = "GUARD_VAULT_KEY";
const KEY_BYTES = 32;

/** The first byte of every token. Another way of writing tokens would get another number. */
const VERSION = 1;
const ID_BYTES = 8;
const SALT_BYTES = 24;
const HEADER_BYTES = 1 + ID_BYTES + SALT_BYTES;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

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
  const text = env[VARIABLE]?.trim();
  if (!text) return undefined;
  const keys: VaultKey[] = [];
  const texts = text.split(",");
  for (const [index, item] of texts.entries()) {
    const invalid = (message: string) =>
      new GuardValidationError([{ path: VARIABLE, message: `key ${index + 1} of ${texts.length} ${message}` }]);
    const bytes = keyBytes(item.trim());
    if (!bytes) throw invalid(`is not ${KEY_BYTES} bytes in base64 (44 characters) or hexadecimal (64 digits)`);
    const key = vaultKey(bytes);
    if (keys.some(({ prefix }) => prefix.equals(key.prefix))) throw invalid("stands there twice");
    keys.push(key);
  }
  return keys as unknown as VaultKeys;
}

/** A new random key. What is sealed with it can be opened by this process only. */
export function randomVaultKey(): VaultKey {
  return vaultKey(randomBytes(KEY_BYTES));
}

function keyBytes(text: string): Buffer | undefined {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return Buffer.from(text, "hex");
  return /^[0-9A-Za-z+/_-]{43}=?$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

function vaultKey(bytes: Buffer): VaultKey {
  const secret = createSecretKey(bytes);
  return { prefix: Buffer.concat([Buffer.of(VERSION), derived(secret, "", "id", ID_BYTES)]), secret };
}

/** Bytes derived from a secret with HKDF and SHA-256 (RFC 5869); `purpose` keeps ids and token keys apart. */
function derived(secret: KeyObject, salt: Uint8Array | string, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, `guard-scan vault ${purpose}`, length));
}

/**
 * Makes opaque tokens of vaults, which callers keep between calls, and makes vaults of tokens again. Nobody without the key can
 * read a token or make one. But whoever has a token and may call the service can have its values restored, so a token must be
 * protected like the values themselves.
 *
 * A token is `version (1 byte) | id of the key (8) | salt (24) | content | tag (16)` in base64url without padding. The content is
 * JSON, with the expiry in it, encrypted with AES-256-GCM (NIST SP 800-38D); everything before it is authenticated too.
 * Key and nonce of the cipher are derived from the service's key and the random salt with HKDF (RFC 5869). So no nonce is used
 * twice under one key until a salt of 192 bits repeats: with 2^80 tokens for each key of the service the probability of that
 * stays below 2^-32, the limit that SP 800-38D (8.3) sets. Random nonces of 96 bits under the service's key itself would reach
 * that limit with 2^32 tokens.
 *
 * The content is not compressed. A prompt mixes values of several origins, and the length of a compressed token would tell
 * somebody who writes one of the values, and sees the length, whether it repeats another value (CRIME, CVE-2012-4929). Without
 * compression the length tells how long all the values are together, which the length of the prompt tells as well.
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
   * @throws Problem 413 when it would be too long.
   */
  seal(vault: Vault): string {
    const [{ prefix, secret }] = this.#keys;
    const header = Buffer.concat([prefix, randomBytes(SALT_BYTES)]);
    const content: Content = {
      expires: Math.floor(Date.now() / 1000) + this.#expiresInSeconds,
      entries: [...vault.entries()],
    };
    const { key, nonce } = cipherKey(secret, header);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(header);
    const sealed = [cipher.update(JSON.stringify(content), "utf8"), cipher.final()];
    const token = Buffer.concat([header, ...sealed, cipher.getAuthTag()]).toString("base64url");
    if (token.length > this.#maxLength) {
      throw new Problem(413, `The vault of what was replaced would have more than ${this.#maxLength} characters.`);
    }
    return token;
  }

  /**
   * The vault of a token.
   *
   * @throws Problem 422 for every token that cannot be opened, whatever the reason, always in the same words.
   */
  open(token: string): Vault {
    const content = this.#read(token);
    if (!content || content.expires <= Date.now() / 1000) {
      throw new Problem(422, "The vault cannot be opened.", {
        errors: [{ pointer: "/vault", detail: "is not a vault of this service, or not any more" }],
      });
    }
    return new Vault(content.entries);
  }

  #read(token: string): Content | undefined {
    if (token.length > this.#maxLength) return undefined;
    const bytes = Buffer.from(token, "base64url");
    // Node skips characters that are not base64url. Only the one spelling that was handed out is taken.
    if (bytes.length < HEADER_BYTES + TAG_BYTES || bytes.toString("base64url") !== token) return undefined;
    const header = bytes.subarray(0, HEADER_BYTES);
    const known = this.#keys.find(({ prefix }) => prefix.equals(header.subarray(0, prefix.length)));
    if (!known) return undefined;
    const { key, nonce } = cipherKey(known.secret, header);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(header)
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = [decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES))];
    try {
      text.push(decipher.final());
    } catch {
      return undefined;
    }
    return JSON.parse(Buffer.concat(text).toString("utf8"));
  }
}

/** The key and nonce of one token, by the salt in its header. */
function cipherKey(secret: KeyObject, header: Buffer): { key: Buffer; nonce: Buffer } {
  const bytes = derived(secret, header.subarray(-SALT_BYTES), "token", KEY_BYTES + NONCE_BYTES);
  return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
}
