import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { readConversation } from "../../messages/read.ts";
import type { ToolDefinition } from "../../scan/conversation-text.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { GuardValidationError } from "../../support/errors.ts";

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

/**
 * Returns the pins of definitions of tools by their names, for the option `toolPins` of ToolDefinitions. A definition that differs from
 * its pin in anything but the order of keys fails there. Read the definitions before you pin them.
 *
 * @param tools the definitions, in the format of OpenAI, Anthropic or MCP. Pins of one format do not fit another.
 * @param key the key of the hashes, which has at least 16 characters and is to be kept secret: the option `pinKey`.
 * @throws GuardValidationError for a short key, for what is no definition, and for two tools with one name.
 */
export function pinTools(tools: readonly Record<string, unknown>[], key: string): Record<string, string> {
  if (typeof key !== "string" || key.length < LEAST_KEY) {
    throw new GuardValidationError([{ path: "key", message: `expected a text of at least ${LEAST_KEY} characters` }]);
  }
  const pins = new Map<string, string>();
  for (const { toolDefinition, path } of readConversation({ messages: [{ role: "user", content: "" }], tools }).texts) {
    if (!toolDefinition) continue;
    if (pins.has(toolDefinition.name)) {
      throw new GuardValidationError([{ path, message: `another tool is called ${toolDefinition.name} too` }]);
    }
    pins.set(toolDefinition.name, pinOf(toolDefinition, key));
  }
  return Object.fromEntries(pins);
}
