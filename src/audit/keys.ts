import { createSecretKey, randomBytes } from "node:crypto";
import type { Environment } from "../support/environment.ts";
import { deriveKey, KEY_BYTES, readSecretKeys } from "../support/secret-keys.ts";

/** The environment variable with the key of the audit log. */
export const AUDIT_KEY = "GUARD_AUDIT_KEY";

export interface AuditKeys {
  /** The key of the chain of records. */
  chain: Uint8Array;
  /** The key of the hashes of texts. */
  text: Uint8Array;
}

/**
 * Derives the keys of an audit log from `GUARD_AUDIT_KEY`: 32 bytes in base64 or hexadecimal. Servers with the same key write the same
 * hash for the same text.
 *
 * @returns undefined if it is not set.
 * @throws GuardValidationError if it is not a valid key.
 */
export function readAuditKey(env: Environment): AuditKeys | undefined {
  const [key] = readSecretKeys(AUDIT_KEY, env, 1) ?? [];
  if (!key) return undefined;
  const secret = createSecretKey(key);
  return {
    chain: deriveKey(secret, "", "audit chain", KEY_BYTES),
    text: deriveKey(secret, "", "audit texts", KEY_BYTES),
  };
}

/** Returns a key of texts for a process without a key, whose hashes can be compared only with each other. */
export function randomTextKey(): Uint8Array {
  return randomBytes(KEY_BYTES);
}
