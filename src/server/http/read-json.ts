import { isUtf8 } from "node:buffer";
import { Problem, pointerOf } from "../../http-server/problem.ts";
import { AmbiguousJsonError, parseStrict } from "../../support/strict-json.ts";

/**
 * Parses JSON (RFC 8259) of a client, with or without a byte order mark.
 *
 * @param name of the input in errors, such as `The body`.
 * @throws Problem 400 for invalid UTF-8 or JSON, and 422 for JSON that parsers read differently.
 */
export function readJson(bytes: Buffer, name: string): unknown {
  // JavaScript would replace invalid bytes by U+FFFD, so the scanned text would differ from the text that was sent.
  if (!isUtf8(bytes)) throw new Problem(400, `${name} is not valid UTF-8.`);
  const text = bytes.toString();
  try {
    return parseStrict(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof AmbiguousJsonError)) throw new Problem(400, `${name} is not valid JSON.`);
    throw new Problem(422, `${name} is ambiguous JSON: parsers may read it differently.`, {
      errors: [{ pointer: pointerOf(error.path), detail: error.message }],
    });
  }
}

const BYTE_ORDER_MARK = 0xfeff;
