import { createSecretKey, randomBytes } from "node:crypto";
import type { Environment } from "../support/environment.ts";
import { derived, KEY_BYTES, readSecretKeys } from "../support/secret-keys.ts";

/** The environment variable with the key of the audit log. */
export const AUDIT_KEY = "GUARD_AUDIT_KEY";

/** The keys of an audit log. */
export interface AuditKeys {
  /** The key of the chain of records. */
  chain: Uint8Array;
  /** The key of the hashes of texts. */
  text: Uint8Array;
}

/**
 * The keys that `GUARD_AUDIT_KEY` gives: 32 bytes in base64 or hexadecimal. Servers with the same one write the same hash for the same
 * text.
 *
 * @returns undefined when it is not set.
 * @throws GuardValidationError when it is no key.
 */
export function readAuditKey(env: Environment): AuditKeys | undefined {
  const [key] = readSecretKeys(AUDIT_KEY, env, 1) ?? [];
  if (!key) return undefined;
  const secret = createSecretKey(key);
  return {
    chain: derived(secret, "", "audit chain", KEY_BYTES),
    text: derived(secret, "", "audit texts", KEY_BYTES),
  };
}

/** A key of texts for a process that has no key: its hashes can be compared with each other, and with no others. */
export function randomTextKey(): Uint8Array {
  return randomBytes(KEY_BYTES);
}
