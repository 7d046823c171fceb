import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
/** The length of a nonce. */
export const NONCE_BYTES = 12;
/** The length of the tag at the end of encrypted bytes. */
const TAG_BYTES = 16;

/** The parameters of AES-256-GCM (NIST SP 800-38D). Decryption needs the same ones. */
interface EncryptionParameters {
  /** 32 bytes. */
  key: Uint8Array;
  /** {@link NONCE_BYTES} bytes that are never used twice with the key. */
  nonce: Uint8Array;
  /** Data that is authenticated, but not part of the result. */
  associatedData?: Uint8Array;
}

/** Encrypts and authenticates a text. The result is `content | tag`. */
export function encrypt({ key, nonce, associatedData }: EncryptionParameters, text: string): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  if (associatedData) cipher.setAAD(associatedData);
  return Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts the result of {@link encrypt}. Returns undefined if the parameters differ, or if the bytes were changed. */
export function decrypt({ key, nonce, associatedData }: EncryptionParameters, bytes: Uint8Array): string | undefined {
  if (nonce.length !== NONCE_BYTES || bytes.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  if (associatedData) decipher.setAAD(associatedData);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = [decipher.update(bytes.subarray(0, -TAG_BYTES))];
  try {
    text.push(decipher.final());
  } catch {
    return undefined;
  }
  return Buffer.concat(text).toString("utf8");
}

/** Encrypts a text with a random nonce. The result is `nonce | content | tag`. */
export function encryptWithRandomNonce(key: Uint8Array, text: string, associatedData?: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([nonce, encrypt({ key, nonce, ...(associatedData && { associatedData }) }, text)]);
}

/** Decrypts the result of {@link encryptWithRandomNonce}, like {@link decrypt}. */
export function decryptWithNonce(key: Uint8Array, bytes: Uint8Array, associatedData?: Uint8Array): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  return decrypt({ key, nonce, ...(associatedData && { associatedData }) }, bytes.subarray(NONCE_BYTES));
}
