import { MIN_KEY_LENGTH, pinOf } from "../scanners/parts/tool-pins.ts";
import { GuardValidationError } from "../support/errors.ts";
import { readConversation } from "./read-conversation.ts";

/**
 * Returns the pins of tool definitions by the names of the tools, for the option `toolPins` of ToolDefinitions, which fails a definition
 * that differs from its pin in anything but the order of keys. Read the definitions before you pin them.
 *
 * @param tools the definitions, in the format of OpenAI, Anthropic, Google or MCP. Pins of one format do not fit another.
 * @param key the secret key of the hashes, of at least 16 characters: the option `pinKey`.
 * @throws GuardValidationError for a short key, for a value that is no definition, and for two tools with one name.
 */
export function pinTools(tools: readonly Record<string, unknown>[], key: string): Record<string, string> {
  if (typeof key !== "string" || key.length < MIN_KEY_LENGTH) {
    throw new GuardValidationError([
      { path: "key", message: `expected a text of at least ${MIN_KEY_LENGTH} characters` },
    ]);
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
