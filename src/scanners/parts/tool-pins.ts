import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ToolDefinition } from "../../scan/conversation-text.ts";
import { canonicalJson } from "../../support/canonical-json.ts";

/** Whoever sees a pin could guess a shorter key. */
export const MIN_KEY_LENGTH = 16;

/** How many pins the store in memory holds. The least recently used one is evicted first. */
const MAX_PINS = 10_000;

/** A store of pins, by the names of tools. */
export interface PinStore {
  get(name: string): string | undefined | Promise<string | undefined>;
  set(name: string, pin: string): unknown;
}

/** Where a program keeps the pins of its scanners, and the secret key of their hashes, which has at least 16 characters. */
export interface ToolPins {
  readonly key: string;
  readonly store: PinStore;
}

export function memoryStore(): PinStore {
  return new LRUCache<string, string>({ max: MAX_PINS });
}

export function randomKey(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the pin of a definition: keyed hashes of its description, its schema and the whole definition, separated by points, so that a
 * comparison can tell what changed. Each hash is the first 16 bytes of HMAC-SHA256 (RFC 2104, which allows half of the hash) over the
 * canonical JSON of RFC 8785, in base64url.
 */
export function pinOf({ name, description, schema, definition }: ToolDefinition, key: string): string {
  const parts = { description: description ?? null, schema: schema ?? null, definition };
  return Object.entries(parts)
    .map(([part, value]) => {
      const hash = createHmac("sha256", key)
        .update(canonicalJson([part, name, value]))
        .digest();
      return hash.subarray(0, 16).toString("base64url");
    })
    .join(".");
}

/** Returns which part of a definition changed, as the subject of a sentence, or undefined if nothing changed. */
export function changeSince(pinned: string, pin: string): string | undefined {
  if (pinned === pin) return undefined;
  const [description, schema] = pinned.split(".");
  const [newDescription, newSchema] = pin.split(".");
  const changed = [
    ...(description === newDescription ? [] : ["its description"]),
    ...(schema === newSchema ? [] : ["its schema"]),
  ];
  return changed.length > 0 ? changed.join(" and ") : "another field of it";
}
