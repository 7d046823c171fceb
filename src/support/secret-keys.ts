import { hkdfSync, type KeyObject } from "node:crypto";
import type { Environment } from "./environment.ts";
import { GuardValidationError } from "./errors.ts";

/** The length of every key of the service. */
export const KEY_BYTES = 32;

/** The form of a key, for messages. */
export const SECRET_KEY_FORM = `${KEY_BYTES} bytes in base64 (44 characters) or hexadecimal (64 digits)`;

/**
 * Reads keys from an environment variable: one or several, separated by commas, of 32 bytes each, in base64 (either alphabet) or
 * hexadecimal.
 *
 * @param variable the name of the variable, which is the path of the error.
 * @param limit the maximum number of keys.
 * @returns undefined if the variable is not set or empty.
 * @throws GuardValidationError with the position of the invalid key, and nothing of its value.
 */
export function readSecretKeys(
  variable: string,
  env: Environment,
  limit = Number.POSITIVE_INFINITY,
): [Buffer, ...Buffer[]] | undefined {
  const text = env[variable]?.trim();
  if (!text) return undefined;
  const texts = text.split(",");
  const invalid = (message: string) => new GuardValidationError([{ path: variable, message }]);
  if (texts.length > limit) throw invalid(`has ${texts.length} keys, but at most ${limit} are allowed`);
  const keys: Buffer[] = [];
  for (const [index, item] of texts.entries()) {
    const which = `key ${index + 1} of ${texts.length}`;
    const bytes = readSecretKey(item.trim());
    if (!bytes) throw invalid(`${which} is not ${SECRET_KEY_FORM}`);
    if (keys.some((key) => key.equals(bytes))) throw invalid(`${which} is a duplicate`);
    keys.push(bytes);
  }
  return keys as [Buffer, ...Buffer[]];
}

/** Reads a key of {@link KEY_BYTES} bytes in base64 (either alphabet) or hexadecimal. */
export function readSecretKey(text: string): Buffer | undefined {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return Buffer.from(text, "hex");
  return /^[0-9A-Za-z+/_-]{43}=?$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

/**
 * Derives bytes from a secret with HKDF and SHA-256 (RFC 5869). Bytes for one `purpose` reveal nothing about those for another.
 *
 * @param purpose a name that no other use of the secret has.
 */
export function deriveKey(secret: KeyObject, salt: Uint8Array | string, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, `guard-scan ${purpose}`, length));
}
