import { LEAST_KEY, pinOf } from "../scanners/parts/tool-pins.ts";
import { GuardValidationError } from "../support/errors.ts";
import { readConversation } from "./read-conversation.ts";

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
