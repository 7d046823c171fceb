import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ToolDefinition } from "../../scan/conversation-text.ts";
import { canonicalJson } from "../../support/canonical-json.ts";

/** The fewest characters of a key. With fewer, whoever sees a pin could guess the key. */
export const LEAST_KEY = 16;

/** How many definitions the store in memory remembers. The one that was not looked up for the longest time is forgotten first. */
const REMEMBERED = 10_000;

/** Where the pins of definitions are kept that were seen before, by the name of the tool. */
export interface PinStore {
  get(name: string): string | undefined | Promise<string | undefined>;
  set(name: string, pin: string): unknown;
}

/** Where a program keeps pins for the scanners that it builds, and the secret key of their hashes, of at least 16 characters. */
export interface ToolPins {
  readonly key: string;
  readonly store: PinStore;
}

export function memoryStore(): PinStore {
  return new LRUCache<string, string>({ max: REMEMBERED });
}

export function randomKey(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The pin of a definition: three keyed hashes with points between them, of its description, its schema and all of it, so that a
 * comparison can tell what changed. Each is the first 16 bytes of HMAC-SHA256 (RFC 2104, which allows half of the hash) over the
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

/** Says what of a definition is not as it was when it was pinned, as an end of a sentence. It is undefined when nothing changed. */
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
