import type { OutgoingHttpHeaders } from "node:http";

/**
 * Headers that are about one connection, which a proxy must not hand on (RFC 9110, sections 7.6.1 and 11.7), besides those that
 * `Connection` names.
 */
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

/** Headers of a request that the proxy makes itself. Node.js has answered `Expect` already. */
const OWN = ["host", "expect"];

/** How the proxy calls itself in `Via`, which a gateway has to add to requests (RFC 9110, section 7.6.3). */
const VIA = "1.1 guard";

/**
 * The headers of a request as they go to upstream: all that the client sent, credentials included, but for those of its connection.
 *
 * @param raw names and values in turns, as Node.js has them in `rawHeaders`.
 * @param without names in lower case of further headers that are left out.
 */
export function requestHeaders(raw: readonly string[], without: readonly string[] = []): Headers {
  const headers = endToEnd(raw, [...OWN, ...without]);
  headers.append("via", VIA);
  return headers;
}

/** The headers of a reply as they go to the client. */
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
  // What is no name of a header would make `delete` throw.
  for (const name of named) if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.delete(name);
  return headers;
}

/** Headers as Node.js takes them. Only `Set-Cookie` may not be joined to one line (RFC 9110, section 5.3). */
export function outgoing(headers: Headers): OutgoingHttpHeaders {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 ? { "set-cookie": cookies } : {}) };
}
