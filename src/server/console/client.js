// Calls the API.

/**
 * @typedef {{ start: number, end: number, type: string, text?: string, score: number, label?: string, service?: string,
 *   view?: string, message?: number, path?: string }} Finding
 * @typedef {{ chars: number, scanned_chars: number, truncated: boolean, windows: number, parts_skipped: number,
 *   suppressed: string[], failed: string[] }} Coverage
 * @typedef {{ is_valid: boolean, scanners: Record<string, number>, findings: Record<string, Finding[]>,
 *   probabilities: Record<string, number>, timing: Record<string, number>, coverage: Coverage, sanitized_prompt?: string,
 *   sanitized_output?: string, vault?: string }} Reply The reply to a request with `details`. Offsets are in the given texts.
 * @typedef {{ kind: "prompt", prompt: string }
 *   | { kind: "output", prompt: string, output: string }
 *   | { kind: "conversation", messages: { role: string, content: string }[] }} Subject The texts to check.
 * @typedef {Record<string, string>} Headers
 * @typedef {{ reply: Reply, milliseconds: number, request: object, path: string }} Checked
 */

/** An error reply, or no reply. The page shows its message. */
export class CallError extends Error {
  /**
   * @param {string} message
   * @param {number} [status]
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * Checks and sanitizes a subject.
 *
 * @param {Subject} subject
 * @param {{ headers: Headers, vault: string | undefined, signal: AbortSignal }} options
 * @returns {Promise<Checked>}
 */
export async function check({ kind, ...texts }, { headers, vault, signal }) {
  const request = { ...texts, details: true, ...(vault ? { vault } : {}) };
  const path = `analyze/${kind}`;
  const start = performance.now();
  const reply = await post(path, request, headers, signal);
  const milliseconds = performance.now() - start;
  return { reply, milliseconds, request, path };
}

/**
 * Returns the text of a subject that may be rewritten, or an empty text.
 *
 * @param {any} subject a {@link Subject}.
 * @returns {string}
 */
export function originalOf({ kind, prompt, output, messages }) {
  if (kind === "prompt") return prompt;
  if (kind === "output") return output;
  return messages.findLast(/** @param {{ role: string }} message */ ({ role }) => role === "user")?.content ?? "";
}

/**
 * @param {string} path
 * @param {object} body
 * @param {Headers} headers
 * @param {AbortSignal} signal
 * @returns {Promise<Reply>}
 */
async function post(path, body, headers, signal) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      // Otherwise the browser would open its own dialog for HTTP basic authentication.
      credentials: "omit",
      cache: "no-store",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CallError("The server cannot be reached, or the credential contains characters that cannot be sent.");
  }
  const reply = await response.json().catch(() => ({}));
  if (response.ok) return reply;
  const details = (reply.errors ?? []).map(
    /** @param {{ pointer: string, detail: string }} error */ ({ pointer, detail }) => ` ${pointer}: ${detail}.`,
  );
  const wait = response.headers.get("retry-after");
  throw new CallError(
    `${response.status} ${reply.title ?? response.statusText}: ${reply.detail ?? "no details."}${details.join("")}${
      wait ? ` Try again in ${wait} s.` : ""
    }`,
    response.status,
  );
}
