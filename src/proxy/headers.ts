import type { OutgoingHttpHeaders } from "node:http";

/** Headers of one connection, which a proxy must not forward (RFC 9110, sections 7.6.1 and 11.7), besides those named by `Connection`. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Request headers that are not forwarded. Node.js sets `Host`, and has answered `Expect` already. */
const REPLACED = ["host", "expect"];

/** The name of the proxy in `Via`, which a gateway must add to requests (RFC 9110, section 7.6.3). */
const VIA = "1.1 guard";

/**
 * Returns the headers of a request to the upstream: those of the client, including its credentials, without those of its connection.
 *
 * @param raw `rawHeaders` of Node.js, which alternate names and values.
 * @param without further headers to leave out, in lower case.
 */
export function requestHeaders(raw: readonly string[], without: readonly string[] = []): Headers {
  const headers = endToEnd(raw, [...REPLACED, ...without]);
  headers.append("via", VIA);
  return headers;
}

/** Returns the headers of a response to the client. */
export function replyHeaders(raw: readonly string[]): Headers {
  return endToEnd(raw, []);
}

function endToEnd(raw: readonly string[], without: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.append(raw[index] as string, raw[index + 1] as string);
  }
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...HOP_BY_HOP, ...without]) headers.delete(name);
  // `delete` throws for an invalid name.
  for (const name of named) if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.delete(name);
  return headers;
}

/** Returns headers in the form of Node.js. Only `Set-Cookie` must not be joined to one line (RFC 9110, section 5.3). */
export function nodeHeaders(headers: Headers): OutgoingHttpHeaders {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 ? { "set-cookie": cookies } : {}) };
}
