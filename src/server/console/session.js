// The credential of this page, and calls of the API with it. The credential stays in the memory of the page.

/**
 * @typedef {{ type: "http_bearer" } | { type: "http_basic" } | { type: "api_key", header: string }} Scheme A kind of
 *   credential that the server accepts.
 * @typedef {{ name: string, type: string, models: string[], rewrites: boolean, masks: boolean, threshold?: number,
 *   minimum?: number, sources: string[], monitors: string[] }} Scanner
 * @typedef {{ name: string, is_default: boolean, may_set_thresholds: boolean,
 *   scanners: { input: Scanner[], output: Scanner[] } }} Profile
 * @typedef {{ credential: string | null, may_review: boolean, may_administer: boolean, profiles: Profile[] }} Access What the credential may do.
 * @typedef {{ access: Access, scheme: Scheme | undefined, window: number, onSignedOut(message?: string): void }} Context What
 *   a view needs. `window` is the number of user messages that the server scans together.
 * @typedef {{ root: HTMLElement, open?(): void, close?(): void }} View A view. `open` runs when it is shown, `close` when it is not any more.
 */

/**
 * @typedef {{ start: number, end: number, type: string, text?: string, score: number, label?: string, service?: string,
 *   view?: string, message?: number, path?: string }} Finding
 * @typedef {{ name: string, scanner: string, type: string, scope: string, is_valid: boolean, outcome: string, score: number,
 *   probability?: number, timing: number, mode?: "monitor", excepted?: { id: string, reason: string, score: number }[] }} Check
 * @typedef {Record<string, unknown> & { chars: number, scanned_chars: number, truncated: boolean, windows: number,
 *   parts_skipped: number, suppressed: string[], failed: string[] }} Coverage
 * @typedef {{ role: string, content: string }} Message
 * @typedef {{ kind: "prompt", prompt: string, source: string }
 *   | { kind: "output", prompt: string, output: string }
 *   | { kind: "conversation", messages: Message[], tools?: unknown[] }
 *   | { kind: "documents", documents: string[] }} Subject The texts to check.
 * @typedef {{ is_valid: boolean, outcome: string, coverage: Coverage, checks?: Check[], findings?: Record<string, Finding[]>,
 *   documents?: DocumentReply[], sanitized_prompt?: string, sanitized_output?: string, sanitized_messages?: Message[],
 *   vault?: string, cache?: string, would_block?: string[], would_mask?: string[],
 *   reviews?: { id: string }[] }} Reply The reply to a request with `details`.
 * @typedef {{ is_valid: boolean, checks: Check[], findings: Record<string, Finding[]>, sanitized_text?: string }} DocumentReply
 */

/** An error reply, or no reply. The page shows its message. */
export class CallError extends Error {
  /**
   * @param {string} message
   * @param {number} [status] absent if there was no reply.
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** @type {Record<string, string>} */
let credential = {};

/**
 * Sets the credential of all calls from now on.
 *
 * @param {Scheme | undefined} scheme undefined removes it.
 * @param {string} user
 * @param {string} secret
 */
export function setCredential(scheme, user = "", secret = "") {
  credential = scheme ? headersOf(scheme, user, secret) : {};
}

/**
 * @param {Scheme} scheme
 * @param {string} user
 * @param {string} secret
 * @returns {Record<string, string>}
 */
function headersOf(scheme, user, secret) {
  switch (scheme.type) {
    case "http_bearer":
      return { authorization: `Bearer ${secret}` };
    case "api_key":
      return { [scheme.header]: secret };
    case "http_basic": {
      // RFC 7617 with UTF-8, as in the challenge of the server. btoa accepts bytes only.
      const bytes = new TextEncoder().encode(`${user}:${secret}`);
      return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
    }
  }
}

/**
 * Calls the API: a GET, or a POST if there is a body.
 *
 * @param {string} path
 * @param {{ body?: object, signal?: AbortSignal }} [options]
 * @returns {Promise<any>} the reply.
 * @throws {CallError} for an error reply, and if there is none.
 */
export async function call(path, { body, signal } = {}) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method: body ? "POST" : "GET",
      headers: { ...(body ? { "content-type": "application/json" } : {}), ...credential },
      ...(body ? { body: JSON.stringify(body) } : {}),
      // Otherwise the browser would open its own dialog for HTTP basic authentication.
      credentials: "omit",
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError("The server cannot be reached, or the credential contains characters that cannot be sent.");
  }
  const reply = await response.json().catch(() => ({}));
  if (response.ok) return reply;
  throw new CallError(messageOf(response, reply), response.status);
}

/**
 * @param {Response} response
 * @param {{ title?: string, detail?: string, errors?: { pointer: string, detail: string }[] }} problem
 */
function messageOf(response, { title = response.statusText, detail = "no details.", errors = [] }) {
  const details = errors.map(({ pointer, detail }) => ` ${pointer}: ${detail}.`).join("");
  const wait = response.headers.get("retry-after");
  return `${response.status} ${title}: ${detail}${details}${wait ? ` Try again in ${wait} s.` : ""}`;
}
