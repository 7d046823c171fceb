import { isUtf8 } from "node:buffer";
import { Problem, pointerOf } from "../../http-server/problem.ts";
import { AmbiguousJsonError, parseStrict } from "../../support/strict-json.ts";

/**
 * Reads JSON (RFC 8259) that a client sent, with or without a byte order mark.
 *
 * @param what what it is called in an error: `The body`.
 * @throws Problem 400 for what is not JSON in UTF-8, and 422 for JSON that another program could read in another way.
 */
export function readJson(bytes: Buffer, what: string): unknown {
  // JavaScript would put U+FFFD in place of what is not UTF-8, so that another text would be scanned than the one that was sent.
  if (!isUtf8(bytes)) throw new Problem(400, `${what} is not valid UTF-8.`);
  const text = bytes.toString();
  try {
    return parseStrict(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof AmbiguousJsonError)) throw new Problem(400, `${what} is not valid JSON.`);
    throw new Problem(422, `${what} is JSON that can be read in several ways.`, {
      errors: [{ pointer: pointerOf(error.path), detail: error.message }],
    });
  }
}

const BYTE_ORDER_MARK = 0xfeff;
