import { createSecretKey } from "node:crypto";
import type { Environment } from "../support/environment.ts";
import { deriveKey, KEY_BYTES, readSecretKeys } from "../support/secret-keys.ts";

/** The environment variable with the key of the hashes of exact texts. */
export const EXCEPTIONS_KEY = "GUARD_EXCEPTIONS_KEY";

/**
 * Derives the key of the hashes of exact texts from `GUARD_EXCEPTIONS_KEY`: 32 bytes in base64 or hexadecimal.
 *
 * @returns undefined if it is not set.
 * @throws GuardValidationError if it is not a valid key.
 */
export function readExceptionsKey(env: Environment): Uint8Array | undefined {
  const [key] = readSecretKeys(EXCEPTIONS_KEY, env, 1) ?? [];
  return key && deriveKey(createSecretKey(key), "", "exception texts", KEY_BYTES);
}
