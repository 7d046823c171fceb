import { type KeyObject, randomBytes } from "node:crypto";
import { decrypt, encrypt, NONCE_BYTES } from "../../support/authenticated-encryption.ts";
import { deriveKey, KEY_BYTES } from "../../support/secret-keys.ts";

const SALT_BYTES = 24;

/** What a sealed text is bound to. It must be the same when the text is opened. */
export interface SealBinding {
  /** The secret of the service. */
  secret: KeyObject;
  /** A unique name of this use of the secret. */
  purpose: string;
  /** Additional authenticated data, which the result does not contain. */
  context?: string;
}

/**
 * Encrypts and authenticates a text with AES-256-GCM (NIST SP 800-38D). The result is
 * `prefix | salt (24 bytes) | content | tag (16 bytes)`; prefix, salt and context are authenticated.
 *
 * Key and nonce are derived from the secret and the random salt with HKDF (RFC 5869), so a nonce repeats under one key only if a salt of
 * 192 bits repeats. With 2^80 texts for each secret the probability stays below 2^-32, the limit of SP 800-38D (8.3). Without derived
 * keys, random nonces of 96 bits would reach that limit after only 2^32 texts.
 *
 * The content is not compressed: it may mix values of several origins, and the length of a compressed text reveals whether a value that
 * an attacker controls repeats another one (CRIME, CVE-2012-4929).
 *
 * @param prefix plain bytes before the salt.
 */
export function sealText(
  { secret, purpose, context = "" }: SealBinding,
  text: string,
  prefix: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.concat([prefix, randomBytes(SALT_BYTES)]);
  const associatedData = Buffer.concat([header, Buffer.from(context)]);
  return Buffer.concat([header, encrypt({ ...cipherKey(secret, purpose, header), associatedData }, text)]);
}

/**
 * Opens the result of {@link sealText}.
 *
 * @param prefixLength in bytes.
 * @returns undefined if the bytes were sealed with another binding, or were changed.
 */
export function openText(
  { secret, purpose, context = "" }: SealBinding,
  bytes: Buffer,
  prefixLength = 0,
): string | undefined {
  const headerLength = prefixLength + SALT_BYTES;
  if (bytes.length < headerLength) return undefined;
  const header = bytes.subarray(0, headerLength);
  const associatedData = Buffer.concat([header, Buffer.from(context)]);
  return decrypt({ ...cipherKey(secret, purpose, header), associatedData }, bytes.subarray(headerLength));
}

/** Derives the key and nonce of one text from the salt at the end of its header. */
function cipherKey(secret: KeyObject, purpose: string, header: Buffer): { key: Buffer; nonce: Buffer } {
  const bytes = deriveKey(secret, header.subarray(-SALT_BYTES), purpose, KEY_BYTES + NONCE_BYTES);
  return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
}
