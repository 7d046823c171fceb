import { readConversation } from "../messages/read-conversation.ts";
import { TOKEN_FIELDS } from "../messages/request-fields.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import { invalidRequest } from "./errors.ts";
import type { Format, FormatOptions, Json, RequestParts } from "./format.ts";

/**
 * Reads the body of a request: the fields of its format, and all other fields, because some model servers have fields of their own, such
 * as `documents`.
 *
 * @throws GuardValidationError if the texts cannot be read.
 */
export function readRequestParts(format: Format, whole: Json, options: FormatOptions): RequestParts {
  const body = format.findRequest?.(whole) ?? whole;
  const { chat, texts = [] } = format.readRequest?.(body, options) ?? {};
  const others = Object.entries(body).filter(([name]) => !format.fields?.has(name));
  const tokens = others.find(([name, value]) => TOKEN_FIELDS.has(name) && value !== null);
  if (tokens && options.unguarded !== "pass") {
    throw invalidRequest(tokens[0], "tokens cannot be checked; send a text, or let this path pass unchecked");
  }
  const fields = Object.fromEntries(others);
  const setFields = ({ fields: changed }: ChatRequest) => void Object.assign(body, changed);
  if (chat) {
    const set = (request: ChatRequest) => {
      chat.set(request);
      setFields(request);
    };
    return { texts, chat: { request: Object.assign({}, chat.request, { fields }), set } };
  }
  const request = { messages: [], fields };
  const { texts: found, stateElsewhere } = readConversation(request);
  const hasOthers = found.length > 0 || stateElsewhere.length > 0;
  return hasOthers ? { texts, chat: { request, set: setFields } } : { texts };
}
