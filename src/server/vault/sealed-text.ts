import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { derived, KEY_BYTES } from "../../support/secret-keys.ts";

const SALT_BYTES = 24;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What belongs to a sealed text, and has to be the same when it is opened. */
export interface SealedFor {
  /** The secret of the service. */
  secret: KeyObject;
  /** A name that no other use of the secret has. */
  purpose: string;
  /** Something that the text belongs to. It is authenticated, and it is no part of the sealed text. */
  context?: string;
}

/**
 * Encrypts a text, so that nobody without the secret can read it or make one. The result is
 * `prefix | salt (24 bytes) | content | tag (16 bytes)`. The content is encrypted with AES-256-GCM (NIST SP 800-38D); prefix, salt
 * and context are authenticated too.
 *
 * Key and nonce of the cipher are derived from the secret and the random salt with HKDF (RFC 5869). So no nonce is used twice under
 * one key until a salt of 192 bits repeats: with 2^80 texts for each secret the probability of that stays below 2^-32, the limit that
 * SP 800-38D (8.3) sets. Random nonces of 96 bits under the secret itself would reach that limit with 2^32 texts.
 *
 * The content is not compressed. It may mix values of several origins, and the length of a compressed text would tell somebody who
 * writes one of the values, and sees the length, whether it repeats another value (CRIME, CVE-2012-4929).
 *
 * @param prefix what stands before the salt in clear.
 */
export function sealText(
  { secret, purpose, context = "" }: SealedFor,
  text: string,
  prefix: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.concat([prefix, randomBytes(SALT_BYTES)]);
  const { key, nonce } = cipherKey(secret, purpose, header);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.concat([header, Buffer.from(context)]));
  return Buffer.concat([header, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts what {@link sealText} made.
 *
 * @param prefixLength the length of the prefix in bytes.
 * @returns undefined when the bytes were made with another secret, for another purpose or context, or were changed.
 */
export function openText(
  { secret, purpose, context = "" }: SealedFor,
  bytes: Buffer,
  prefixLength = 0,
): string | undefined {
  const headerLength = prefixLength + SALT_BYTES;
  if (bytes.length < headerLength + TAG_BYTES) return undefined;
  const header = bytes.subarray(0, headerLength);
  const { key, nonce } = cipherKey(secret, purpose, header);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.concat([header, Buffer.from(context)]))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = [decipher.update(bytes.subarray(headerLength, -TAG_BYTES))];
  try {
    text.push(decipher.final());
  } catch {
    return undefined;
  }
  return Buffer.concat(text).toString("utf8");
}

/** The key and nonce of one text, by the salt at the end of its header. */
function cipherKey(secret: KeyObject, purpose: string, header: Buffer): { key: Buffer; nonce: Buffer } {
  const bytes = derived(secret, header.subarray(-SALT_BYTES), purpose, KEY_BYTES + NONCE_BYTES);
  return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
}
